import CLinux

/// A process with its parent, its parent's parent and so on.
public struct Ancestry: Sendable {
    /// The process first, as far as they can be seen; init and this process are left out.
    public let processes: [ProcessID]
    /// Whether this process is one of the ancestors.
    public let reachesThisProcess: Bool

    /// Deeper than people and programs nest processes.
    private static let limit = 4096
    /// How many parents may end while they are looked at.
    private static let attemptLimit = 16

    /// Nil when the process or those above it cannot be read.
    public init?(of pid: ProcessID) {
        for _ in 0..<Self.attemptLimit {
            if let walked = Self.walk(from: pid) {
                self = walked
                return
            }
        }
        return nil
    }

    private init(_ processes: [ProcessID], reachesThisProcess: Bool) {
        self.processes = processes
        self.reachesThisProcess = reachesThisProcess
    }

    /// Nil when a parent ends meanwhile: its children have another one then.
    private static func walk(from pid: ProcessID) -> Ancestry? {
        var processes: [ProcessID] = []
        var next = pid
        while next > 1, next != getpid() {
            guard processes.count < limit, let status = ProcessStatus(of: next) else { return nil }
            processes.append(next)
            next = status.parent
        }
        return Ancestry(processes, reachesThisProcess: next == getpid())
    }
}
