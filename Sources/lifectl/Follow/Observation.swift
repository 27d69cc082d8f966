import ControlAPI
import LifecycleTypes

/// A window or a stream of sound, and its process.
struct Item: Equatable {
    /// The identity of the item among all items of its source.
    struct Key: Hashable {
        let number: Int64
        /// The process of the item; nil if the source does not know it.
        let process: Int64?
        /// A Boolean value that indicates whether the source has the process from the kernel. Otherwise it is the word of a
        /// client, which can name a process of another program.
        let isAttested: Bool
    }

    let key: Key
    let title: String

    init(number: Int64, process: Int64?, isAttested: Bool = true, title: String) {
        key = Key(number: number, process: process.flatMap { $0 > 0 ? $0 : nil }, isAttested: isAttested)
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
        [focusedItem].compactMap(\.self) + uses.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value)
    }
}

/// A program that knows which windows have the focus or which streams play: a compositor, an X server, a sound server.
protocol Source: AnyObject {
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
    var isReady: Bool { Descriptor.isReadable(descriptor) }
}

/// The end of a source.
struct SourceLost: Error, Equatable {
    let reason: String
}
