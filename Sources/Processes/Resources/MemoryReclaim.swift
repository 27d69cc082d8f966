import CLinux
import Glibc

/// Gives the memory of a suspended app back to the machine, piece by piece, so that nothing else waits for it.
///
/// A cgroup with the memory controller is asked as a whole (`memory.reclaim`, Linux 5.19), other apps mapping by mapping
/// (process_madvise(2), Linux 5.10). Touched memory comes back from swap or files; without swap, the kernel takes only copies of files.
public struct MemoryReclaim {
    /// A way to give memory back.
    public enum Method: String, Hashable, Sendable {
        case cgroup = "memory.reclaim"
        case pages = "process_madvise"
    }

    /// The result of one step.
    public enum Progress: Hashable, Sendable {
        /// There is more: take another step when there is time.
        case more
        case done(Outcome)
    }

    /// The app's memory, in bytes: that of its cgroup, or what its processes hold, pages that they share each time.
    public struct Outcome: Hashable, Sendable {
        /// The memory at the beginning.
        public let before: Int
        /// The memory at the end.
        public let after: Int
        /// The error of the kernel that ended the work, if one did.
        public let error: Errno?

        /// The memory that was given back.
        public var reclaimed: Int { max(before - after, 0) }
    }

    /// The way in which the memory is given back.
    public let method: Method

    private let tree: ProcessTree
    private let before: Int
    /// The remaining work, the last piece first.
    private var pieces: [Piece] = []

    private enum Piece {
        /// This much of the cgroup.
        case group(Cgroup, bytes: Int)
        /// The value of this process.
        case process(ProcessIdentity)
        /// These mappings of it.
        case ranges(ProcessIdentity, [Range<UInt64>])
    }

    /// The memory that one system call is asked for, in bytes: some milliseconds of writing to a disk.
    static let pieceSize = 4 << 20

    /// Prepares to give back the present memory of a tree. Nothing is done yet.
    ///
    /// - Parameter tree: A suspended tree.
    /// - Throws: The reason, if this machine offers no way.
    public init(_ tree: ProcessTree) throws(FeatureUnavailable) {
        self.tree = tree
        if let group = tree.cgroup, group.has("memory.reclaim"), tree.foreignProcesses().isEmpty {
            method = .cgroup
            before = group.memoryInUse ?? 0
            pieces = Self.pieces(of: before).map { .group(group, bytes: $0) }
        } else {
            try Self.checkPermission(for: tree.main)
            method = .pages
            let members = tree.containment.members()
            before = Self.residentSize(of: members)
            pieces = members.reversed().map { .process($0.identity) }
        }
    }

    /// Does one piece after another until the time is over, at least one.
    ///
    /// - Parameter time: The time after which no other piece is begun; one takes some milliseconds at most, unless swap
    ///   is slow.
    /// - Returns: Whether there is more to do, or the outcome.
    public mutating func step(for time: Duration = .milliseconds(5)) -> Progress {
        let end = BootTime.now + time
        repeat {
            guard let piece = pieces.popLast() else { return .done(outcome(nil)) }
            guard let error = reclaim(piece) else { continue }
            pieces = []
            return .done(outcome(error))
        } while BootTime.now < end
        return pieces.isEmpty ? .done(outcome(nil)) : .more
    }

    private func outcome(_ error: Errno?) -> Outcome {
        let after = method == .cgroup ? tree.cgroup?.memoryInUse : Self.residentSize(of: tree.containment.members())
        return Outcome(before: before, after: after ?? 0, error: error)
    }
}

// MARK: - Pieces

extension MemoryReclaim {
    private static func pieces(of bytes: Int) -> [Int] {
        Array(repeating: pieceSize, count: bytes / pieceSize) + (bytes % pieceSize > 0 ? [bytes % pieceSize] : [])
    }

    /// Does one piece, or divides it; nil if it is done, or the process or group has gone.
    private mutating func reclaim(_ piece: Piece) -> Errno? {
        switch piece {
        case .group(let group, let bytes):
            return reclaim(bytes, of: group)
        case .process(let process):
            let ranges = MemoryMap.privateRanges(of: process.pid)
            let size = MemoryMap.pieceSize(
                of: ranges, residentSize: MemoryMap.residentSize(of: process.pid), resident: Self.pieceSize)
            pieces += MemoryMap.pieces(of: ranges, size: size).reversed().map { .ranges(process, $0) }
            return nil
        case .ranges(let process, let ranges):
            return pageOut(ranges, of: process)
        }
    }

    private mutating func reclaim(_ bytes: Int, of group: Cgroup) -> Errno? {
        do throws(Errno) {
            try group.write(String(bytes), to: "memory.reclaim")
        } catch {
            switch error.rawValue {
            // Less than that could be found: there is nothing left.
            case EAGAIN: pieces = []
            case ENOENT, ENODEV: pieces = []
            default: return error
            }
        }
        return nil
    }

    /// Pages out what one call can, and leaves the rest as a piece.
    private mutating func pageOut(_ ranges: [Range<UInt64>], of process: ProcessIdentity) -> Errno? {
        let pidfd = linux_pidfd_open(process.pid)
        guard pidfd >= 0 else { return Self.failure(-pidfd) }
        let descriptor = Descriptor(owning: pidfd)
        // The descriptor holds whichever process had the number; the start time identifies it.
        guard (try? process.exists()) == true else { return nil }
        let vectors = ranges.map { ($0.lowerBound, $0.upperBound - $0.lowerBound) }
        let advised = unsafe linux_page_out(descriptor.rawValue, vectors, vectors.count)
        let rest: [Range<UInt64>]
        switch Int32(clamping: -advised) {
        // Memory of a kind that stays, or that has gone.
        case EINVAL, ENOMEM, 0: rest = Array(ranges.dropFirst())
        case 1...: return Self.failure(Int32(-advised))
        // The kernel takes up to 2 GiB at once, and stops before a range that it refuses.
        default: rest = MemoryMap.ranges(ranges, from: UInt64(advised))
        }
        if !rest.isEmpty { pieces.append(.ranges(process, rest)) }
        return nil
    }

    /// Returns the error as a failure, unless the process has ended.
    private static func failure(_ error: Int32) -> Errno? { error == ESRCH ? nil : Errno(rawValue: error) }

    /// Tries the call with nothing to do. For its own memory a process needs no privileges, so it takes another.
    private static func checkPermission(for process: ProcessIdentity) throws(FeatureUnavailable) {
        let pidfd = linux_pidfd_open(process.pid)
        guard pidfd >= 0 else {
            // A main process that has ended may have left others, which then are tried.
            guard pidfd == -ENOSYS else { return }
            throw FeatureUnavailable("this kernel has no pidfds")
        }
        let descriptor = Descriptor(owning: pidfd)
        let result = unsafe linux_page_out(descriptor.rawValue, [], 0)
        guard result < 0, result != -Int(ESRCH) else { return }
        let error = Errno(rawValue: Int32(-result))
        if [ENOSYS, EINVAL].contains(error.rawValue) {
            throw FeatureUnavailable(
                "this kernel can neither reclaim a cgroup's memory here nor page another process out")
        }
        throw FeatureUnavailable(
            "another process's memory cannot be paged out (it needs CAP_SYS_NICE)", error)
    }

    private static func residentSize(of members: [ProcessStatus]) -> Int {
        members.reduce(0) { $0 + MemoryMap.residentSize(of: $1.pid) }
    }
}

extension Cgroup {
    /// `memory.current`, in bytes; nil without the memory controller.
    var memoryInUse: Int? {
        guard let text = try? ProcFile.read(file("memory.current"), limit: 32) else { return nil }
        return Int(ascii: text.prefix { $0 != UInt8(ascii: "\n") })
    }
}

/// The memory of a process: proc_pid_maps(5) and proc_pid_statm(5).
enum MemoryMap {
    /// A longer map than this is read in part: the kernel allows one process 65530 mappings, of some 100 bytes each.
    private static let sizeLimit = 16 << 20

    /// Returns the mappings that are the process's alone; none when it is gone.
    static func privateRanges(of pid: ProcessID) -> [Range<UInt64>] {
        privateRanges(inMap: (try? ProcFile.read("/proc/\(pid)/maps", limit: sizeLimit)) ?? [])
    }

    /// Lines such as `7f0a000-7f0c000 rw-p 00000000 00:00 0  name`, where the fourth letter is p for private. What may
    /// not be used at all is only reserved.
    static func privateRanges(inMap text: [UInt8]) -> [Range<UInt64>] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            guard fields.count == 3, fields[1].count == 4, fields[1].last == UInt8(ascii: "p"),
                fields[1].first == UInt8(ascii: "r")
            else { return nil }
            let ends = fields[0].split(separator: UInt8(ascii: "-")).map { String(decoding: $0, as: UTF8.self) }
            guard ends.count == 2, let start = UInt64(ends[0], radix: 16), let end = UInt64(ends[1], radix: 16),
                start < end
            else { return nil }
            return start..<end
        }
    }

    /// Puts ranges together to pieces of `size` bytes and up to 256 ranges, and divides those that are larger.
    static func pieces(of ranges: [Range<UInt64>], size: UInt64) -> [[Range<UInt64>]] {
        var pieces: [[Range<UInt64>]] = []
        var piece: [Range<UInt64>] = []
        var room = size
        for range in ranges {
            var start = range.lowerBound
            while start < range.upperBound {
                let length = min(UInt64(range.upperBound - start), room)
                piece.append(start..<(start + length))
                start += length
                room -= length
                if room == 0 || piece.count == 256 {
                    pieces.append(piece)
                    piece = []
                    room = size
                }
            }
        }
        return piece.isEmpty ? pieces : pieces + [piece]
    }

    /// Returns what is left of ranges after so many bytes.
    static func ranges(_ ranges: [Range<UInt64>], from offset: UInt64) -> [Range<UInt64>] {
        var done = offset
        return ranges.compactMap { range in
            let length = min(done, range.upperBound - range.lowerBound)
            done -= length
            let rest = range.lowerBound + length..<range.upperBound
            return rest.isEmpty ? nil : rest
        }
    }

    /// Returns the size of the pieces of a process's mappings that hold about `resident` bytes of memory each. Some
    /// programs map a thousand times the memory that they use.
    static func pieceSize(of ranges: [Range<UInt64>], residentSize: Int, resident: Int) -> UInt64 {
        let mapped = ranges.reduce(0.0) { $0 + Double($1.upperBound - $1.lowerBound) }
        let size = Double(resident) * max(mapped / Double(max(residentSize, resident)), 1)
        // Whole pages, of whichever size.
        return UInt64(min(size, 1e15)) & ~0xffff
    }

    /// Returns the memory of a process, shared pages included, in bytes; 0 if it is gone.
    static func residentSize(of pid: ProcessID) -> Int { sizes(of: pid)?.resident ?? 0 }

    /// Returns the anonymous memory that a process shares with no other, in bytes; 0 if it is gone.
    static func ownSize(of pid: ProcessID) -> Int { sizes(of: pid).map { max($0.resident - $0.shared, 0) } ?? 0 }

    private static func sizes(of pid: ProcessID) -> (resident: Int, shared: Int)? {
        sizes(inStatm: (try? ProcFile.read("/proc/\(pid)/statm", limit: 256)) ?? [])
    }

    /// The largest number of pages that is believed: the sizes of all processes have a sum.
    private static let mostPages = 1 << 36

    static func sizes(inStatm text: [UInt8]) -> (resident: Int, shared: Int)? {
        let fields = text.split(separator: UInt8(ascii: " "))
        guard fields.count > 2, let resident = Int(ascii: fields[1]), let shared = Int(ascii: fields[2]),
            (0...mostPages).contains(resident), (0...mostPages).contains(shared)
        else { return nil }
        let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (resident * pageSize, shared * pageSize)
    }
}

extension ProcessTree {
    /// The memory that comes back when the tree ends, in bytes: what its cgroup is charged with, or, without the memory
    /// controller, what its processes hold for themselves. Pages that they share with one another are left out then.
    ///
    /// It takes no lock of a process, so a process that waits for memory does not delay it.
    public var ownMemory: Int {
        cgroup?.memoryInUse ?? containment.members().reduce(0) { $0 + MemoryMap.ownSize(of: $1.pid) }
    }
}
