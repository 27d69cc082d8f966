import CLinux

/// A signal, printed by its usual name.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number, as in signal(7).
    public let rawValue: Int32

    /// Takes any number; the kernel refuses those it does not have.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// SIGSTOP, which no process can catch.
    public static let stop = Signal(rawValue: SIGSTOP)
    /// SIGCONT.
    public static let resume = Signal(rawValue: SIGCONT)
    /// SIGTERM.
    public static let terminate = Signal(rawValue: SIGTERM)
    /// SIGKILL, which no process can catch.
    public static let kill = Signal(rawValue: SIGKILL)

    /// The name, such as `SIGTERM`.
    public var description: String {
        guard let name = unsafe linux_signal_name(rawValue) else { return "signal \(rawValue)" }
        return unsafe "SIG" + String(cString: name)
    }
}
