import CLinux

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
