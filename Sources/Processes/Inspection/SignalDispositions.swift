/// The signals that a process ignores or handles: `SigIgn` and `SigCgt` of proc_pid_status(5).
struct SignalDispositions {
    private let ignored: UInt64
    private let handled: UInt64

    /// Nil when the process is gone.
    init?(of pid: ProcessID) {
        let text = (try? ProcFile.read("/proc/\(pid)/status", limit: 1 << 16)) ?? []
        guard let ignored = Self.mask("SigIgn:", in: text), let handled = Self.mask("SigCgt:", in: text) else {
            return nil
        }
        self.ignored = ignored
        self.handled = handled
    }

    private static func mask(_ name: String, in text: [UInt8]) -> UInt64? {
        text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
            .flatMap { $0.split(separator: UInt8(ascii: "\t")).last }
            .flatMap { UInt64(String(decoding: $0, as: UTF8.self), radix: 16) }
    }

    func ignores(_ signal: Signal) -> Bool { ignored & Self.bit(of: signal) != 0 }
    func handles(_ signal: Signal) -> Bool { handled & Self.bit(of: signal) != 0 }

    private static func bit(of signal: Signal) -> UInt64 {
        (1...64).contains(signal.rawValue) ? 1 << UInt64(signal.rawValue - 1) : 0
    }
}
