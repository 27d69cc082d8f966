import CLinux

/// The memory of a process: proc_pid_maps(5) and proc_pid_statm(5).
enum MemoryMap {
    /// A longer map than this is read in part: the kernel allows one process 65530 mappings, of some 100 bytes each.
    private static let sizeLimit = 16 << 20

    /// Returns the mappings that are the process's alone; none when it is gone.
    static func privateRanges(of pid: ProcessID) -> [Range<UInt64>] {
        privateRanges(inMap: ProcFile.read("/proc/\(pid)/maps", limit: sizeLimit) ?? [])
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

    /// Returns what is left of ranges behind so many bytes.
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
        let fields = (ProcFile.read("/proc/\(pid)/statm", limit: 256) ?? []).split(separator: UInt8(ascii: " "))
        guard fields.count > 2, let resident = Int(ascii: fields[1]), let shared = Int(ascii: fields[2]) else {
            return nil
        }
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
