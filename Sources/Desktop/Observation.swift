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

    /// The longest app id or title, in bytes. The rest is cut off.
    static let textLimit = 256

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
        self.title =
            title.utf8.count <= Self.textLimit
            ? title : String(decoding: title.utf8.prefix(Self.textLimit), as: UTF8.self)
    }
}

/// The focus and the uses that a source sees at one moment.
struct Observation: Equatable {
    enum Focus: Equatable {
        /// The source cannot see the focus, or something that is no window has it, such as a screen locker.
        case unknown
        /// No window has the focus.
        case nothing
        case item(Item)
    }

    var focus = Focus.unknown
    /// The items of each use that the source can see.
    var uses: [Use: [Item]] = [:]

    /// The most windows that one source may have, so that a broken source has an end.
    static let limit = 4096

    var focusedItem: Item? {
        if case .item(let item) = focus { item } else { nil }
    }

    /// The focused item, and the items of all uses.
    var items: [Item] {
        [focusedItem].compactMap { $0 } + uses.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap { $0.value }
    }
}
