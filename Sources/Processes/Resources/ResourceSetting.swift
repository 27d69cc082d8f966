import CLinux
import Glibc

/// Something that each process or thread has a value of, and how it is read and written.
///
/// The raw value is a number, which is hashed in less time than a name.
enum ResourceSetting: Int, CaseIterable {
    case nice, ioPriority, oomScoreAdjustment, timerSlack

    /// A Boolean value that indicates whether each thread has its own.
    var isOfThreads: Bool { self != .oomScoreAdjustment }

    /// The range of values that the kernel accepts: see setpriority(2), ioprio_set(2), proc_pid_oom_score_adj(5) and
    /// proc_pid_timerslack_ns(5).
    var range: ClosedRange<Int> {
        switch self {
        case .nice: -20...19
        case .ioPriority: 0...0xFFFF
        case .oomScoreAdjustment: -1000...1000
        case .timerSlack: 0...Int.max
        }
    }

    /// Returns the value that a profile wants; nil if it wants none.
    func wanted(by profile: ResourceProfile) -> Int? {
        switch self {
        case .nice: profile.nice
        case .ioPriority: profile.ioPriority?.rawValue
        case .oomScoreAdjustment: profile.oomScoreAdjustment
        case .timerSlack: profile.timerSlack
        }
    }

    /// Returns the value that a process gets: the wanted one, combined with its own.
    func value(wanted: Int, own: Int) -> Int {
        switch self {
        case .nice: min(max(own + wanted, -20), 19)
        // 0 is the class of those that have not chosen one. A higher number is a lower priority.
        case .ioPriority: own == 0 ? wanted : max(own, wanted)
        case .oomScoreAdjustment: wanted >= 0 ? max(own, wanted) : min(own, wanted)
        case .timerSlack: max(own, wanted)
        }
    }

    /// Returns the value of a thread, or of the process with this number; nil if it is gone or may not be looked at.
    func read(_ id: ProcessID) throws(Errno) -> Int? {
        switch self {
        case .nice:
            var nice: Int32 = 0
            return unsafe linux_get_nice(id, &nice) == 0 ? Int(nice) : nil
        case .ioPriority:
            let priority = linux_get_io_priority(id)
            return priority >= 0 ? Int(priority) : nil
        case .oomScoreAdjustment: return try ProcFile.readWhole(ProcPath(id, "oom_score_adj"), Self.number)
        case .timerSlack: return try ProcFile.readWhole(ProcPath(id, "timerslack_ns"), Self.number)
        }
    }

    /// Sets the value of a thread, or of a process.
    ///
    /// - Parameters:
    ///   - id: The number of the thread or process.
    ///   - isCurrent: Returns whether the number still means the same. Called when nothing can change that any more.
    /// - Returns: The error; nil when it is done or the process gone.
    func write(_ value: Int, to id: ProcessID, if isCurrent: () throws(Errno) -> Bool) -> Errno? {
        do throws(Errno) {
            switch self {
            case .nice: return try isCurrent() ? Self.failure(linux_set_nice(id, Int32(value))) : nil
            case .ioPriority: return try isCurrent() ? Self.failure(linux_set_io_priority(id, Int32(value))) : nil
            case .oomScoreAdjustment: return try Self.write(value, to: ProcPath(id, "oom_score_adj"), if: isCurrent)
            case .timerSlack: return try Self.write(value, to: ProcPath(id, "timerslack_ns"), if: isCurrent)
            }
        } catch {
            return Self.failure(-error.rawValue)
        }
    }

    private static func number(_ text: Span<UInt8>) -> Int? {
        var position = 0
        return text.number(at: &position)
    }

    private static func write(
        _ value: Int, to path: ProcPath, if isCurrent: () throws(Errno) -> Bool
    ) throws(Errno) -> Errno? {
        let file = try Descriptor.open(path, O_WRONLY)
        // The open file is that of whichever process had the number.
        return try isCurrent() ? failure(ProcFile.write(value, to: file.rawValue)) : nil
    }

    /// Changes the value of a thread or a process; the new value follows from the present value.
    ///
    /// - Parameters:
    ///   - isCurrent: As in ``write(_:to:if:)``.
    ///   - change: Returns the new value. Called if the present one can be read.
    /// - Returns: The error; nil when it is done or the process gone.
    func change(
        _ id: ProcessID, if isCurrent: () throws(Errno) -> Bool, _ change: (_ current: Int) -> Int
    ) -> Errno? {
        do throws(Errno) {
            // A file that may be read and written is opened once.
            if let path = path(id), let file = try? Descriptor.open(path, O_RDWR) {
                guard let current = try ProcFile.readAgain(file.rawValue, Self.number) else { return nil }
                let value = change(current)
                guard value != current, try isCurrent() else { return nil }
                return Self.failure(ProcFile.write(value, to: file.rawValue))
            }
            guard let current = try read(id) else { return nil }
            let value = change(current)
            return value == current ? nil : write(value, to: id, if: isCurrent)
        } catch {
            return Self.failure(-error.rawValue)
        }
    }

    /// Returns the file of a process that has the value; nil for a value that has system calls.
    private func path(_ id: ProcessID) -> ProcPath? {
        switch self {
        case .nice, .ioPriority: nil
        case .oomScoreAdjustment: ProcPath(id, "oom_score_adj")
        case .timerSlack: ProcPath(id, "timerslack_ns")
        }
    }

    /// Converts a negated error number; a process that has ended is no failure.
    private static func failure(_ result: Int32) -> Errno? {
        result >= 0 || result == -ESRCH || result == -ENOENT ? nil : Errno(rawValue: -result)
    }
}

/// A set of the cases of an enumeration with at most eight, in one byte.
struct CaseSet<Element: CaseIterable & RawRepresentable<Int>>: Hashable, Sendable {
    /// A bit for each case.
    private(set) var bits: UInt8 = 0

    init() {}

    init(_ cases: some Sequence<Element>) {
        for element in cases { insert(element) }
    }

    /// Creates a set of the cases that these bits stand for; other bits are ignored.
    init(bits: UInt8) { self.bits = bits & (1 << Element.allCases.count - 1) }

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }
    func contains(_ element: Element) -> Bool { bits & 1 << element.rawValue != 0 }
    mutating func insert(_ element: Element) { bits |= 1 << element.rawValue }
    mutating func remove(_ element: Element) { bits &= ~(1 << element.rawValue) }
}
