/// What a look at processes has found.
struct Look {
    /// The processes that have not ended.
    var members: [ProcessStatus] = []
    /// The numbers that a list named, and that no living process had when it was looked at. Such a process may have left a child that was
    /// in no list. Of a process that is hidden, or waits for its parent, each look says so.
    var gone: Set<ProcessID> = []

    /// - Parameter numbers: The processes that a list names.
    init(at numbers: [ProcessID]) {
        for number in numbers { add(number, ProcessStatus(of: number)) }
    }

    /// A look that has found nothing yet.
    init() {}

    /// Adds a process that a list named.
    mutating func add(_ number: ProcessID, _ status: ProcessStatus?) {
        if let status, !status.isZombie { members.append(status) } else { gone.insert(number) }
    }

    static func += (look: inout Look, other: Look) {
        look.members += other.members
        look.gone.formUnion(other.gone)
    }
}
