// The account of a reclaim and the round under way: each as values of a slot, and as text.

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
    /// The parts, between separators.
    public var text: String {
        switch self {
        case .pressure(let words): "pressure:\(words)"
        case .simulation: "simulation:"
        case .suspendedLimit(let limit): "suspended-limit:\(limit)"
        }
    }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch (parts[0], Int(parts[1])) {
        case ("pressure", _): self = .pressure(parts[1])
        case ("simulation", _): self = .simulation
        case ("suspended-limit", let limit?): self = .suspendedLimit(limit)
        default: return nil
        }
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        switch self {
        case .pressure(let words):
            slot.byte(0)
            slot.text(words)
        case .simulation: slot.byte(1)
        case .suspendedLimit(let limit):
            slot.byte(2)
            slot.number(UInt64(clamping: limit))
        }
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        switch slot.byte() {
        case 0:
            guard let words = slot.text() else { return nil }
            self = .pressure(words)
        case 1: self = .simulation
        case 2:
            guard let limit = slot.number() else { return nil }
            self = .suspendedLimit(Int(clamping: limit))
        case nil, _?: return nil
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
