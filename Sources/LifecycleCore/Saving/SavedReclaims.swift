// The account of a reclaim, and the round under way.

extension ReclaimRecord {
    /// Creates the account that ``write(to:)`` has written; nil if there is none.
    public init?(saved record: SavedRecord) {
        var reader = RecordReader(record)
        var account: ReclaimRecord?
        Self.code(&account, with: &reader)
        guard let account else { return nil }
        self = account
    }

    /// Adds the account to a saved record.
    public func write(to record: inout SavedRecord) {
        var writer = RecordWriter(record)
        var account: ReclaimRecord? = self
        Self.code(&account, with: &writer)
        record = writer.record
    }

    /// Writes or reads an account, or that there is none.
    static func code(_ account: inout ReclaimRecord?, with coder: inout some SavedCoder & ~Copyable) {
        var cause = account?.cause
        coder.item("reclaim-cause", &cause)
        guard let cause else {
            account = nil
            return
        }
        var order = account?.order ?? []
        var candidates = account.map { UInt64($0.candidates) }
        var freed = account?.freed
        coder.list("reclaim-order", &order)
        coder.number("reclaim-candidates", &candidates)
        coder.number("reclaim-freed", &freed)
        guard coder.isReading else { return }
        order = Array(order.prefix(Self.orderLimit))
        account = ReclaimRecord(
            cause: cause, order: order, candidates: candidates.map { Int(clamping: $0) } ?? order.count, freed: freed)
    }
}

extension ReclaimRecord.Cause: SavedItem {
    private static let words = ["pressure", "simulation", "suspended-limit"]

    /// Writes or reads the kind, in a slot its number, and what is known beside it. Text has an empty part for nothing.
    package static func code(_ item: inout Self?, with parts: inout some PartCoder & ~Copyable) {
        var (kind, words, limit): (UInt8?, String?, UInt64?) = (nil, nil, nil)
        switch item {
        case .pressure(let text): (kind, words) = (0, text)
        case .simulation: kind = 1
        case .suspendedLimit(let number): (kind, limit) = (2, UInt64(clamping: number))
        case nil: break
        }
        if parts.isText {
            var word = kind.map { Self.words[Int($0)] }
            parts.text(&word)
            kind = Self.words.firstIndex { $0 == word }.map { UInt8($0) }
        } else {
            parts.byte(&kind)
        }
        if kind == 0 || kind == 1 && parts.isText { parts.rest(&words) }
        if kind == 2 { parts.number(&limit) }
        guard parts.isReading else { return }
        switch kind {
        case 0: item = words.map { .pressure($0) }
        case 1: item = .simulation
        case 2: item = limit.map { .suspendedLimit(Int(clamping: $0)) }
        case nil, _?: item = nil
        }
    }
}

extension ReclaimRound {
    /// Writes or reads a round, or that there is none.
    static func code(_ round: inout ReclaimRound?, with coder: inout some SavedCoder & ~Copyable) {
        var victim = round?.victim
        coder.item("reclaim-victim", &victim)
        guard let victim else {
            round = nil
            return
        }
        var phase = round?.phase
        var isForAll = round?.isForAll ?? false
        var isAboutScenes = round?.isAboutScenes ?? false
        var account = round?.account
        coder.word("reclaim-phase", &phase)
        coder.flag("reclaim-all", &isForAll)
        coder.flag("reclaim-scenes", &isAboutScenes)
        ReclaimRecord.code(&account, with: &coder)
        guard coder.isReading else { return }
        guard let account else {
            round = nil
            return
        }
        var saved = ReclaimRound(victim: victim, account: account)
        saved.phase = phase ?? .looking
        saved.isForAll = isForAll
        saved.isAboutScenes = isAboutScenes
        round = saved
    }
}
