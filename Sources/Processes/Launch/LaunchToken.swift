/// The mark of one launch, inherited by every descendant through the environment.
///
/// It finds helpers that left their session and lost their parent. It is not a secret: any process can have any token in its
/// environment. So it counts for a process of the user of the launch alone, who controls the app anyway.
public struct LaunchToken: Hashable, Sendable, CustomStringConvertible {
    /// The variable that carries the token.
    public static let environmentName = "LIFECYCLE_LAUNCH"

    private let first: UInt64
    private let second: UInt64

    private init(first: UInt64, second: UInt64) {
        (self.first, self.second) = (first, second)
    }

    /// Returns a token that no other launch has.
    public static func random() -> LaunchToken {
        LaunchToken(first: .random(in: .min ... .max), second: .random(in: .min ... .max))
    }

    /// Reads a token; nil for a text that is not the value of one.
    public init?(rawValue: String) {
        var bytes = rawValue.utf8.makeIterator()
        guard let first = Self.number(&bytes, until: UInt8(ascii: "-")), let second = Self.number(&bytes, until: nil)
        else { return nil }
        self.init(first: first, second: second)
    }

    /// Reads a number as ``rawValue`` writes it, and the byte after it.
    private static func number(_ bytes: inout String.UTF8View.Iterator, until end: UInt8?) -> UInt64? {
        var (number, count): (UInt64, Int) = (0, 0)
        while let digit = bytes.next() {
            guard digit != end else { return count > 0 ? number : nil }
            guard count < 16, number > 0 || count == 0, let value = value(ofDigit: digit) else { return nil }
            number = number << 4 | value
            count += 1
        }
        return end == nil && count > 0 ? number : nil
    }

    private static func value(ofDigit byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        default: nil
        }
    }

    /// The value of the variable.
    public var rawValue: String { String(first, radix: 16) + "-" + String(second, radix: 16) }

    /// The value of the variable.
    public var description: String { rawValue }
}

/// Finds the launch a process belongs to from the environment it was started with.
enum LaunchMark: Hashable {
    /// The environment has no token.
    case none
    case token(LaunchToken)

    /// The kernel allows environments of megabytes; spawn puts the mark first, so the beginning is enough.
    private static let searchedBytes = 256 * 1024

    /// The mark in the initial environment of a process; nil if it may not or cannot be read, or is empty, as while a program is
    /// being executed.
    init?(of pid: ProcessID) {
        guard let environment = Self.environment(of: pid), !environment.isEmpty else { return nil }
        self = Self.token(inEnvironment: environment).map { .token($0) } ?? .none
    }

    /// Returns the token in the initial environment of a process, or nil when there is none or it may not be read.
    static func token(of pid: ProcessID) -> LaunchToken? {
        environment(of: pid).flatMap(token(inEnvironment:))
    }

    /// Returns the beginning of the environment, or nil if it may not or cannot be read.
    static func environment(of pid: ProcessID) -> [UInt8]? {
        // A reader for each process takes longer than a fork bomb takes to make the next. A thread that holds the lock of the memory
        // without end waits in the kernel.
        if let status = ProcessStatus(of: pid), status.threadCount == 1, status.state != .uninterruptible {
            return ProcFile.read(ProcPath(pid, "environ"), limit: searchedBytes)
        }
        return ProcessMemory.read("environ", of: pid, limit: searchedBytes)
    }

    /// Returns the token in a list of zero-terminated `NAME=value` strings.
    static func token(inEnvironment environment: [UInt8]) -> LaunchToken? {
        let prefix = Array((LaunchToken.environmentName + "=").utf8)
        for variable in environment.split(separator: 0) where variable.starts(with: prefix) {
            return LaunchToken(rawValue: String(decoding: variable.dropFirst(prefix.count), as: UTF8.self))
        }
        return nil
    }
}

/// The marks of processes that were looked at.
///
/// A process has its mark from birth, so the first that was read stays: a program that is executed later may have none.
final class LaunchMarks {
    private var marks: [ProcessIdentity: LaunchMark] = [:]
    /// The number of marks at which those of processes that have ended are dropped.
    private var limit = smallestLimit
    private static let smallestLimit = 256

    /// Returns the mark of a process; nil if it cannot be read now.
    subscript(process: ProcessIdentity) -> LaunchMark? {
        if let known = marks[process] { return known }
        guard let mark = LaunchMark(of: process.pid) else { return nil }
        if marks.count >= limit {
            marks = marks.filter { $0.key.isCurrent }
            limit = max(Self.smallestLimit, 2 * marks.count)
        }
        marks[process] = mark
        return mark
    }

    /// Returns whether a process has the mark of a launch, and runs as the user of the launch in every respect.
    func have(_ token: LaunchToken, of user: UInt32?, on process: ProcessIdentity) -> Bool {
        self[process] == .token(token) && RunningProcess.users(of: process.pid)?.allSatisfy { $0 == user } ?? false
    }
}
