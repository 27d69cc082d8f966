import ControlAPI
import LifecycleTypes

/// A window or a stream of sound, and its program.
struct Item: Equatable {
    /// The identity of the item among all items of its source.
    struct Key: Hashable {
        let number: Int64
        let owner: Owner
    }

    /// The program of an item, as far as the source knows it.
    enum Owner: Hashable {
        case unknown
        /// The kernel has told the source the process.
        case process(Int64)
        /// A client has named a process, which can be that of another program.
        case claimedProcess(Int64)
        /// A client has named an app. The source knows no process.
        case claimedApp(String)

        /// The process, by whose word it may be.
        var process: Int64? {
            switch self {
            case .process(let process), .claimedProcess(let process): process
            case .unknown, .claimedApp: nil
            }
        }
    }

    let key: Key
    let title: String

    /// - Parameter appID: The app id, which counts if there is no process; empty for none.
    init(number: Int64, process: Int64?, isAttested: Bool = true, appID: String = "", title: String) {
        let owner: Owner =
            if let process, process > 0 {
                isAttested ? .process(process) : .claimedProcess(process)
            } else if FindAppParameters.appIDLengths.contains(appID.utf8.count) {
                .claimedApp(appID)
            } else {
                .unknown
            }
        key = Key(number: number, owner: owner)
        self.title = title
    }
}

/// The focus and the uses that a source sees at one moment.
struct Observation: Equatable {
    enum Focus: Equatable {
        /// The source cannot see the focus, or the focus is at no window, as with a screen locker.
        case unknown
        /// No window has the focus.
        case nothing
        case item(Item)
    }

    var focus = Focus.unknown
    /// The items of each use that the source can see.
    var uses: [Use: [Item]] = [:]

    /// The number of windows that one source may have, so that a broken source has an end.
    static let limit = 4096

    var focusedItem: Item? {
        if case .item(let item) = focus { item } else { nil }
    }

    /// The focused item, and the items of all uses.
    var items: [Item] {
        [focusedItem].compactMap { $0 } + uses.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { $0.value }
    }
}

/// A program that knows which windows have the focus or which streams play: a compositor, an X server, a sound server.
protocol Source: AnyObject {
    /// The program, for messages.
    var name: String { get }

    /// Readable when there may be another observation.
    var descriptor: CInt { get }

    /// A Boolean value that indicates whether `read()` does not wait.
    var isReady: Bool { get }

    /// Reads the input that is there.
    ///
    /// - Returns: The newest observation; nil if there is no new one.
    func read() throws(SourceLost) -> Observation?
}

extension Source {
    var isReady: Bool { DescriptorIO.isReadable(descriptor) }
}

/// The end of a source.
struct SourceLost: Error, Equatable {
    let reason: String
    /// The remedy, if it is another one than to start the program.
    var remedy: String?
}

extension SourceLost {
    /// The end of a program whose last words were `CAUSE; REMEDY`, or a cause alone.
    init(complaint: String) {
        let bytes = Array(complaint.utf8)
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else {
            self.init(reason: complaint)
            return
        }
        let remedy = bytes[(end + 1)...].drop { $0 == UInt8(ascii: " ") }
        self.init(
            reason: String(decoding: bytes[..<end], as: UTF8.self), remedy: String(decoding: remedy, as: UTF8.self))
    }
}
