/// The signals that wait for a process and may end it once it runs: a bit for each number, SIGHUP the lowest.
///
/// A stopped process acts upon no signal but SIGKILL and SIGCONT. The others wait until it is continued.
public struct PendingSignals: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt64

    /// Creates the set of these bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    private init(numbers: [UInt64]) { self.init(rawValue: numbers.reduce(0) { $0 | 1 << ($1 - 1) }) }

    /// SIGHUP, SIGINT, SIGQUIT and SIGTERM, by which a program is asked to end, whether it handles them or not.
    private static let requests = PendingSignals(numbers: [1, 2, 3, 15])
    /// SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG and SIGWINCH, which end no process.
    private static let harmless = PendingSignals(numbers: [17, 18, 19, 20, 21, 22, 23, 28])

    /// Returns the signals that may end a process, of the text of its `status` file: see proc_pid_status(5). A handler of any other
    /// signal than a request to end is for the daily work of its program, such as that of a timer.
    static func parse(_ text: [UInt8]) -> PendingSignals {
        var sets: [String: PendingSignals] = [:]
        for line in text.split(separator: UInt8(ascii: "\n")) where line.first == UInt8(ascii: "S") {
            let words = line.split(separator: UInt8(ascii: "\t"))
            guard words.count == 2, let bits = UInt64(String(decoding: words[1], as: UTF8.self), radix: 16) else {
                continue
            }
            sets[String(decoding: words[0], as: UTF8.self)] = PendingSignals(rawValue: bits)
        }
        func set(_ name: String) -> PendingSignals { sets[name] ?? [] }
        let pending = set("SigPnd:").union(set("ShdPnd:")).subtracting(set("SigIgn:"))
        let fatal = pending.subtracting(set("SigCgt:")).subtracting(set("SigBlk:")).subtracting(harmless)
        return pending.intersection(requests).union(fatal)
    }
}

extension ProcessTree {
    /// The signals that wait for the main process of a stopped tree.
    public var signalsOfMain: PendingSignals {
        desiredState == .stopped && exitStatus == nil ? signals(of: main) : []
    }

    /// The signals that wait for any process that runs with a stopped tree.
    public var pendingSignals: PendingSignals {
        guard desiredState == .stopped else { return [] }
        return (stoppedMembers ?? containment.members().identities).filter(shouldRun).reduce([]) {
            $0.union(signals(of: $1))
        }
    }

    private func signals(of process: ProcessIdentity) -> PendingSignals {
        let text = try? ProcFile.read("/proc/\(process.pid)/status", limit: 1 << 16, longestRecord: 0)
        // No other process gets the number of a child that was not reaped.
        let isChild = isChild && process == main && exitStatus == nil
        guard let text, isChild || (try? process.exists()) == true else { return [] }
        return .parse(text)
    }
}
