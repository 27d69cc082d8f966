import Glibc

/// A time since the boot of the machine, the time in which it slept included (CLOCK_BOOTTIME of clock_gettime(2)).
struct BootTime: Comparable {
    private var nanoseconds: Int64

    /// The clock ticks of a second, in which the kernel counts the start and the processor time of a process.
    static let ticksPerSecond = UInt64(max(sysconf(Int32(_SC_CLK_TCK)), 1))

    /// The present time.
    static var now: BootTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return BootTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The time in clock ticks, as the start of a process.
    var ticks: UInt64 {
        let (seconds, rest) = UInt64(nanoseconds).quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds * Self.ticksPerSecond + rest * Self.ticksPerSecond / 1_000_000_000
    }

    /// The whole seconds.
    var seconds: UInt32 { UInt32(clamping: nanoseconds / 1_000_000_000) }

    static func < (first: BootTime, second: BootTime) -> Bool { first.nanoseconds < second.nanoseconds }

    static func + (time: BootTime, duration: Duration) -> BootTime {
        let (seconds, attoseconds) = duration.components
        return BootTime(nanoseconds: time.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

/// The identity of a boot of the machine.
public enum BootID {
    /// The file of the kernel with the random identifier of this boot: see random(4).
    public static let path = "/proc/sys/kernel/random/boot_id"

    /// Reads the identifier of this boot.
    ///
    /// - Returns: The identifier; empty if /proc is not mounted, or hides the file.
    /// - Throws: The error of open(2) or read(2) if the file is there. A later attempt may succeed.
    public static func read() throws(Errno) -> String {
        let file: Descriptor
        do throws(Errno) {
            file = try Descriptor.open(path, O_RDONLY)
        } catch {
            if [ENOENT, ENOTDIR, EACCES, EPERM].contains(error.rawValue) { return "" }
            throw error
        }
        var text = [UInt8](repeating: 0, count: 64)
        var count = -1
        repeat {
            count = unsafe Glibc.read(file.rawValue, &text, text.count)
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw Errno.latest }
        return String(decoding: text.prefix(count).prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    }
}
