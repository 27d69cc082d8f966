// The account of a reclaim, and the round under way.

extension ReclaimRecord {
    /// Creates the account that ``write(to:)`` has written; nil if there is none.
    public init?(saved record: SavedRecord) {
        var reader = RecordReader(record)
        guard let account = Self.code(nil, with: &reader) else { return nil }
        self = account
    }

    /// Adds the account to a saved record.
    public func write(to record: inout SavedRecord) {
        var writer = RecordWriter(record)
        _ = Self.code(self, with: &writer)
        record = writer.record
    }

    /// Writes or reads an account, or that there is none.
    static func code(_ account: ReclaimRecord?, with coder: inout some SavedCoder & ~Copyable) -> ReclaimRecord? {
        guard let cause = coder.item("reclaim-cause", account?.cause) else { return nil }
        let order = coder.list("reclaim-order", account?.order ?? [])
        let candidates = coder.number("reclaim-candidates", account.map { UInt64($0.candidates) })
        let freed = coder.number("reclaim-freed", account?.freed)
        guard coder.isReading else { return account }
        return ReclaimRecord(
            cause: cause, order: order,
            candidates: candidates.map { Int(clamping: $0) } ?? min(order.count, Self.orderLimit), freed: freed)
    }
}

extension ReclaimRecord.Cause: SavedItem {
    private static let words = ["pressure", "simulation", "suspended-limit"]

    /// Writes or reads the kind, in a slot its number, and what is known beside it. Text has an empty part for nothing.
    package static func code(_ item: Self?, with parts: inout some PartCoder & ~Copyable) -> Self? {
        var (kind, words, limit): (UInt8?, String?, UInt64?) = (nil, nil, nil)
        switch item {
        case .pressure(let text): (kind, words) = (0, text)
        case .simulation: kind = 1
        case .suspendedLimit(let number): (kind, limit) = (2, UInt64(clamping: number))
        case nil: break
        }
        if parts.isText {
            let word = parts.text(kind.map { Self.words[Int($0)] })
            kind = Self.words.firstIndex { $0 == word }.map { UInt8($0) }
        } else {
            kind = parts.byte(kind)
        }
        switch kind {
        case 0: return parts.rest(words).map { .pressure($0) }
        case 1:
            if parts.isText { _ = parts.rest(nil) }
            return .simulation
        case 2: return parts.number(limit).map { .suspendedLimit(Int(clamping: $0)) }
        case nil, _?: return nil
        }
    }
}

extension ReclaimRound {
    /// Writes or reads a round, or that there is none.
    static func code(_ round: ReclaimRound?, with coder: inout some SavedCoder & ~Copyable) -> ReclaimRound? {
        guard let victim = coder.item("reclaim-victim", round?.victim) else { return nil }
        let phase = coder.word("reclaim-phase", round?.phase)
        let isForAll = coder.flag("reclaim-all", round?.isForAll ?? false)
        let isAboutScenes = coder.flag("reclaim-scenes", round?.isAboutScenes ?? false)
        let account = ReclaimRecord.code(round?.account, with: &coder)
        guard coder.isReading else { return round }
        return account.map {
            ReclaimRound(
                victim: victim, account: $0, phase: phase ?? .looking, isAboutScenes: isAboutScenes, isForAll: isForAll)
        }
    }
}
