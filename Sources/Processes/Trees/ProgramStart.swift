/// The gate and the pipe of a main process, until it has become the program. On the heap, so that the tree is small afterwards.
final class ProgramStart {
    var gate: LaunchGate?
    var execPipe: ExecStatusPipe?

    init(gate: consuming LaunchGate?, execPipe: consuming ExecStatusPipe?) {
        self.gate = consume gate
        self.execPipe = consume execPipe
    }
}

extension ProcessTree {
    /// Lets the main process execute the program, which it never does before. Once is enough.
    ///
    /// If this process ends earlier, or drops the tree, the main process ends too, with status 127.
    ///
    /// - Returns: The reason why the gate could not be opened. The main process ends, too, without having executed
    ///   anything.
    @discardableResult
    public func begin() -> SpawnError? {
        guard let gate = start?.gate.take() else { return nil }
        return gate.open()
    }

    /// Does what can wait until the program runs. Call it when no client waits.
    public func completeSetUp() { containment.completeSetUp() }

    /// Becomes readable when `execStatus()` is no longer pending; nil, and closed, after that was seen.
    public var execStatusDescriptor: Int32? {
        start?.execPipe?.descriptor.rawValue
    }

    /// Returns whether the main process has become the program.
    public func execStatus() -> ExecStatus {
        if let pipe = start?.execPipe.take() {
            finalExecStatus = pipe.read()
            if finalExecStatus == .pending { start?.execPipe = consume pipe } else { start = nil }
        }
        return finalExecStatus
    }
}
