/// Why and how an app was ended for its memory, for whoever asks later.
public struct Reclaimed: Sendable, Equatable {
    /// Why apps had to go.
    public enum Cause: Sendable, Equatable {
        /// Memory was short; how short, in words for people.
        case pressure(String)
        /// Somebody wanted to see what happens when memory is short.
        case simulation
        /// More apps than this were suspended.
        case suspendedLimit(Int)
    }

    /// How many of the apps that were considered are kept.
    public static let orderLimit = 16

    /// Why apps had to go.
    public let cause: Cause
    /// The apps that could have been ended, in the order in which they would be, itself first; the first few of them.
    public let order: [AppID]
    /// How many apps could have been ended.
    public let candidates: Int
    /// The memory that came back, in bytes; nil while it is not known, and where nobody can tell.
    public internal(set) var freed: UInt64?

    init(cause: Cause, order: some Collection<AppID>) {
        self.cause = cause
        self.order = Array(order.prefix(Self.orderLimit))
        candidates = order.count
    }
}

extension Reclaimed {
    /// Reads the account that ``save(in:)`` has written; nil where there is none.
    public init?(saved record: SavedRecord) {
        guard let cause = record["reclaim-cause"].flatMap({ Cause(text: $0) }) else { return nil }
        self.cause = cause
        order = record.all("reclaim-order").prefix(Self.orderLimit).map { AppID($0) }
        candidates = record.number("reclaim-candidates").map { Int(clamping: $0) } ?? order.count
        freed = record.number("reclaim-freed")
    }

    /// Adds the account to a saved record.
    public func save(in record: inout SavedRecord) {
        record.add("reclaim-cause", cause.text)
        for id in order { record.add("reclaim-order", id.name) }
        record.add("reclaim-candidates", String(candidates))
        record.add("reclaim-freed", freed.map { String($0) })
    }
}

extension Reclaimed.Cause {
    fileprivate var text: String {
        switch self {
        case .pressure(let words): "pressure:\(words)"
        case .simulation: "simulation:"
        case .suspendedLimit(let limit): "suspended-limit:\(limit)"
        }
    }

    fileprivate init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch (parts[0], Int(parts[1])) {
        case ("pressure", _): self = .pressure(parts[1])
        case ("simulation", _): self = .simulation
        case ("suspended-limit", let limit?): self = .suspendedLimit(limit)
        default: return nil
        }
    }
}
