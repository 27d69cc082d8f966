import Glibc

/// A boundary without a cgroup: nothing but signals holds what is inside, and nothing tells when the last of it has ended.
protocol SignalledContainment: Containment {}

extension SignalledContainment {
    var kind: ContainmentKind { .processGroup }
    var changeDescriptor: Int32? { nil }
    func acknowledgeChange() -> Bool { false }
    func freeze() -> Bool { false }
    func thaw() {}
    var isFrozen: Bool { false }
    func discard() {}
}

extension ProcessStatus {
    /// Whether something is so of the process itself or of one above it, as far up as this process or process 1.
    func isOrComesFrom(_ isWanted: (ProcessStatus) -> Bool) -> Bool {
        var next: ProcessStatus? = self
        while let status = next, status.pid > 1, status.pid != getpid() {
            if isWanted(status) { return true }
            next = ProcessStatus(of: status.parent)
        }
        return false
    }
}
