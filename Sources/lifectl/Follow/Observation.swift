import ControlAPI

/// A window or a stream of sound, and the process that it belongs to.
struct Item: Equatable {
    /// What tells it from every other one that there is at the same time.
    struct Key: Hashable {
        /// The number that the source has given it.
        let number: UInt64
        /// Its process, where the source knows it.
        let process: Int64?
    }

    let key: Key
    let title: String

    init(number: UInt64, process: Int64?, title: String) {
        // What is no process's number is none.
        key = Key(number: number, process: process.flatMap { $0 > 0 ? $0 : nil })
        self.title = title
    }
}

/// What a source has seen at one moment. What it cannot see it does not speak of.
struct Observation: Equatable {
    /// What has the focus.
    enum Focus: Equatable {
        /// The source cannot tell, or something has it that is no window: nothing follows from that.
        case unknown
        /// No window has it, for there is none.
        case nothing
        /// This one.
        case item(Item)
    }

    var focus = Focus.unknown
    /// What is used in each of the ways that the source can tell of.
    var uses: [Use: [Item]] = [:]

    /// How many windows one source may have. Nobody has as many, and a source that has gone wrong has an end.
    static let limit = 4096

    var focusedItem: Item? {
        if case .item(let item) = focus { item } else { nil }
    }

    /// Everything that is spoken of, what has the focus first.
    var items: [Item] {
        ([focusedItem].compactMap(\.self) + uses.sorted { $0.key.rawValue < $1.key.rawValue }.flatMap(\.value))
    }
}

/// Where it can be seen what is in use: a compositor, an X server, a sound server.
protocol Source: AnyObject {
    /// Readable when there may be something new.
    var descriptor: CInt { get }

    /// Whether there is something to read without waiting.
    var isReady: Bool { get }

    /// Reads what is there, and never waits for long.
    ///
    /// - Returns: What is seen now; nil where that is not known yet, or nothing has changed.
    func read() throws(SourceLost) -> Observation?
}

/// The source has gone, or says nothing that can be understood: why, in words.
struct SourceLost: Error, Equatable {
    let reason: String
}

extension Source {
    var isReady: Bool { FollowClock.isReadable(descriptor) }
}
