import CSystemd
import Glibc

/// A signal that arrived: the parts of signalfd(2)'s record that lifed uses.
public struct SignalInfo: Equatable, Sendable {
    /// The cause: `SI_USER`, `SI_QUEUE`, or for SIGCHLD `CLD_EXITED` and the like.
    public let code: Int32

    /// The process that sent it, or for SIGCHLD the child that it is about. 0 when the kernel itself sent it.
    public let processID: Int32

    /// The value of a queued signal or of a timer's.
    public let value: Int32
}

extension SignalInfo {
    nonisolated init(_ record: UnsafePointer<signalfd_siginfo>?) {
        // libsystemd always passes a record; an empty one is the answer to an impossible question.
        let record = unsafe record?.pointee ?? signalfd_siginfo()
        self.init(
            code: record.ssi_code, processID: Int32(truncatingIfNeeded: record.ssi_pid), value: record.ssi_int)
    }
}

/// Receives a signal in the loop instead of in a signal handler. Arrivals that wait together are merged by the kernel.
///
/// Cancelling leaves the signal blocked, so that a signal that is already on its way does not end the process.
public final class SignalSource: EventSource<SignalInfo> {
    init(loop: EventLoop, number: Int32, handler: @escaping Handler) throws(SystemdError) {
        super.init(handler: handler)
        try block(signal: number)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_signal(
            loop.event,
            &source,
            number,
            { _, info, userdata in unsafe SignalSource.deliver(SignalInfo(info), to: userdata) },
            userdata
        )
        try checked(result, "receive signal \(number)")
        unsafe setSource(source)
    }
}

/// Keeps a signal from being delivered to this thread by interrupting it, which signalfd(2) needs.
private func block(signal number: Int32) throws(SystemdError) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    guard unsafe sigaddset(&set, number) == 0 else {
        throw SystemdError(operation: "receive signal \(number)", errno: EINVAL)
    }
    // Like the other pthread functions it returns the error number, positive.
    try checked(-(unsafe pthread_sigmask(SIG_BLOCK, &set, nil)), "block signal \(number)")
}

extension EventLoop {
    /// Receives a signal, which is blocked for the calling thread from now on.
    ///
    /// Threads inherit the mask of the thread that makes them. Call this before there are any others, or the kernel may
    /// deliver the signal to one of those.
    ///
    /// - Parameters:
    ///   - number: The signal, as in signal(7).
    ///   - handler: Called with the signal's record.
    /// - Returns: The source, which ends when it is dropped.
    /// - Throws: `SystemdError` with `EINVAL` for a number that is no signal, `EBUSY` for a signal that is received
    ///   already.
    public func signal(_ number: Int32, handler: @escaping SignalSource.Handler) throws(SystemdError) -> SignalSource {
        try SignalSource(loop: self, number: number, handler: handler)
    }
}
