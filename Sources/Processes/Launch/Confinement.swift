import CLinux
import Glibc

/// The upper bounds of a process: its resource limits, its capability bounding set, and whether it can gain privileges.
///
/// A launch on behalf of a process gets no more than the process has.
public struct Confinement: Hashable, Sendable {
    /// The soft and the hard limit of each resource of getrlimit(2), by number.
    var limits: [UInt64]
    /// The capability bounding set of capabilities(7), one bit for each.
    var boundingSet: UInt64
    /// A Boolean value that indicates whether no program that it executes gains privileges (PR_SET_NO_NEW_PRIVS of
    /// prctl(2)).
    var hasNoNewPrivileges: Bool

    /// The confinement of a process that cannot be looked at: no new privileges.
    public static let unknown = Confinement(
        limits: Array(repeating: .max, count: limitCount), boundingSet: .max, hasNoNewPrivileges: true)

    private static let limitCount = 2 * Int(LINUX_LIMIT_COUNT)

    private init(limits: [UInt64], boundingSet: UInt64, hasNoNewPrivileges: Bool) {
        self.limits = limits
        self.boundingSet = boundingSet
        self.hasNoNewPrivileges = hasNoNewPrivileges
    }

    /// Creates a confinement without limits of resources.
    ///
    /// - Parameters:
    ///   - boundingSet: The capability bounding set of capabilities(7), one bit for each.
    ///   - hasNoNewPrivileges: A Boolean value that indicates whether no program gains privileges when it is executed.
    public init(boundingSet: UInt64 = .max, hasNoNewPrivileges: Bool) {
        self.init(
            limits: Array(repeating: .max, count: Self.limitCount), boundingSet: boundingSet,
            hasNoNewPrivileges: hasNoNewPrivileges)
    }

    /// The confinement of a process; nil if it has ended, or its number is that of a process that started later.
    ///
    /// - Parameters:
    ///   - pid: The number of the process.
    ///   - time: The time at which the process was known by its number, in clock ticks since boot.
    public init?(of pid: ProcessID, knownAt time: UInt64) {
        guard let limits = Self.limits(in: (try? ProcFile.read("/proc/\(pid)/limits", limit: 1 << 14)) ?? []),
            let status = try? ProcFile.read("/proc/\(pid)/status", limit: 1 << 16),
            let set = Self.field("CapBnd:", in: status).flatMap({ UInt64($0, radix: 16) }),
            let permitted = Self.field("CapPrm:", in: status).flatMap({ UInt64($0, radix: 16) }),
            let user = Self.field("Uid:", in: status), let flag = Self.field("NoNewPrivs:", in: status),
            let namespace = Self.userNamespace(of: "\(pid)"), let own = Self.userNamespace(of: "self"),
            // Last: a process that has the number now and is old enough had it at each look before.
            let process = try? ProcessStatus(of: pid), process.startTime <= time
        else { return nil }
        // The capabilities of another user namespace count there only.
        guard namespace == own else {
            self.init(limits: limits, boundingSet: 0, hasNoNewPrivileges: true)
            return
        }
        // A program of root is given all of its bounding set when it is executed; a client without some of these may be kept
        // from that by securebits, which /proc does not show.
        let isBound = user == "0" || flag != "0"
        self.init(limits: limits, boundingSet: isBound ? set & permitted : set, hasNoNewPrivileges: flag != "0")
    }

    private static func userNamespace(of process: String) -> String? {
        var text = [CChar](repeating: 0, count: 64)
        let count = unsafe readlink("/proc/\(process)/ns/user", &text, text.count)
        return count > 0 ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    /// The present time in clock ticks since boot, as the start of a process.
    public static var now: UInt64 { BootTime.now.ticks }

    /// Reads proc_pid_limits(5): one line for each resource, in the order of their numbers, after a heading; the
    /// limits begin after a name of 25 bytes and a space.
    static func limits(in text: [UInt8]) -> [UInt64]? {
        let lines = text.split(separator: UInt8(ascii: "\n")).dropFirst()
        let limits = lines.flatMap { line in
            line.dropFirst(26).split(separator: UInt8(ascii: " ")).prefix(2).compactMap { word -> UInt64? in
                let word = String(decoding: word, as: UTF8.self)
                return word == "unlimited" ? .max : UInt64(word)
            }
        }
        return limits.count == limitCount ? limits : nil
    }

    /// Returns a line of proc_pid_status(5).
    private static func field(_ name: String, in text: [UInt8]) -> String? {
        let line = text.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: name.utf8) }
        return line?.dropFirst(name.utf8.count).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }.first
            .map { String(decoding: $0, as: UTF8.self) }
    }
}

// MARK: - Keeping

extension Confinement {
    /// One line, for the next daemon.
    public var text: String {
        let numbers = [boundingSet, hasNoNewPrivileges ? 1 : 0] + limits
        return numbers.map { $0 == .max ? "-" : String($0) }.joined(separator: ",")
    }

    /// The confinement that a text stands for; ``unknown`` for one without sense.
    ///
    /// - Parameter text: A line from ``text``.
    public init(text: String) {
        let numbers = text.split(separator: ",").compactMap { $0 == "-" ? .max : UInt64($0) }
        guard numbers.count == Self.limitCount + 2 else {
            self = .unknown
            return
        }
        self.init(limits: Array(numbers.dropFirst(2)), boundingSet: numbers[0], hasNoNewPrivileges: numbers[1] != 0)
    }

    /// The confinement as linux_spawn() takes it.
    var forChild: linux_confinement {
        var result = linux_confinement()
        result.bounding_set = boundingSet
        result.no_new_privileges = hasNoNewPrivileges
        unsafe withUnsafeMutableBytes(of: &result.limits) { bytes in
            unsafe limits.withUnsafeBytes { unsafe bytes.copyMemory(from: $0) }
        }
        return result
    }
}

/// The limit of open descriptors of this process, RLIMIT_NOFILE of getrlimit(2).
public enum OpenFileLimit {
    /// The limit that the kernel and systemd give a program by default. A service that is passed many descriptors is
    /// started with a higher one, which its apps must not inherit.
    public static let usual: UInt64 = 1024

    /// Raises the soft limit to the hard one and returns the former soft limit, which children should get back:
    /// programs that use select(2) break with numbers above 1023.
    ///
    /// - Returns: The former soft limit.
    /// - Throws: The error of getrlimit(2) or setrlimit(2).
    public static func raiseToHardLimit() throws(Errno) -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Errno.latest
        }
        let former = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Errno.latest
        }
        return UInt64(former)
    }
}
