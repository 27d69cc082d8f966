/// What a look at processes has found.
struct Look {
    /// The processes that have not ended.
    var members: [ProcessStatus] = []
    /// The numbers that a list named, and that no living process had when it was looked at. Such a process may have left a child that was
    /// in no list. Of a process that is hidden, or waits for its parent, each look says so.
    var gone: Set<ProcessID> = []
    /// The error of a read that failed, for want of a descriptor for example: members may be missing then.
    private(set) var failure: Errno?

    /// - Parameter numbers: The processes that a list names.
    init(at numbers: [ProcessID]) {
        for number in numbers { add(number) }
    }

    /// A look that has found nothing yet.
    init() {}

    var isComplete: Bool { failure == nil }

    /// Returns the members.
    ///
    /// - Throws: The error of a read that failed.
    func all() throws(Errno) -> [ProcessStatus] {
        if let failure { throw failure }
        return members
    }

    /// Reads a part of what the look is about; nil if that fails.
    mutating func reading<Found>(_ read: () throws(Errno) -> Found) -> Found? {
        do throws(Errno) {
            return try read()
        } catch {
            failure = error
            return nil
        }
    }

    /// Reads a process that a list named, and adds it.
    ///
    /// - Parameter isWanted: Whether it is still the process of the list.
    /// - Returns: The status of the process, which may have ended; nil if it is gone.
    @discardableResult
    mutating func add(_ number: ProcessID, if isWanted: (ProcessStatus) -> Bool = { _ in true }) -> ProcessStatus? {
        guard let found = reading({ () throws(Errno) in try ProcessStatus(of: number) }) else { return nil }
        let status = found.flatMap { isWanted($0) ? $0 : nil }
        add(number, status)
        return status
    }

    /// Adds a process that a list named.
    mutating func add(_ number: ProcessID, _ status: ProcessStatus?) {
        if let status, !status.isZombie { members.append(status) } else { gone.insert(number) }
    }

    /// Leaves out members, also those of which cannot be read whether they are wanted.
    mutating func keep(if isWanted: (ProcessStatus) throws(Errno) -> Bool) {
        members = members.filter { process in reading { () throws(Errno) in try isWanted(process) } ?? false }
    }

    static func += (look: inout Look, other: Look) {
        look.members += other.members
        look.gone.formUnion(other.gone)
        look.failure = look.failure ?? other.failure
    }
}
