import CLinux
import Glibc

/// Reads the files of a process that the kernel makes of its memory, such as its arguments and its environment.
///
/// The kernel waits for the lock of the memory. A thread of the process can hold it without end, while it waits for a device or for a
/// server of fuse(4). A child therefore reads the file, and is killed if it does not end in time.
public final class ProcessMemory {
    /// The time for a file, in milliseconds. Memory may have to come from swap.
    private static let patience: Int32 = 100
    /// After a file that did not come in time, the seconds without another attempt: at any process, and at that one.
    private static let pause: UInt32 = 1
    private static let pauseOfProcess: UInt32 = 10

    /// The second of the boot at which any process may be asked again.
    private var pauseEnd: UInt32 = 0
    /// The same of processes that did not let their files be read.
    private var pauseEnds: [ProcessID: UInt32] = [:]

    init() {}

    private func isPaused(_ process: ProcessID, at second: UInt32) -> Bool {
        second < max(pauseEnd, pauseEnds[process] ?? 0)
    }

    private func pause(_ process: ProcessID, at second: UInt32) {
        pauseEnd = second + Self.pause + 1
        pauseEnds = pauseEnds.filter { second < $0.value }
        pauseEnds[process] = second + Self.pauseOfProcess
    }

    /// Returns the beginning of a file of a process.
    ///
    /// - Parameters:
    ///   - file: The name of the file, of at most 32 bytes.
    ///   - process: The number of the process.
    ///   - limit: The number of bytes to read at most.
    /// - Returns: The bytes; nil if the process is gone, may not be looked at, or keeps the reader waiting.
    func read(_ file: StaticString, of process: ProcessID, limit: Int) -> [UInt8]? {
        guard process > 0, !isPaused(process, at: BootTime.now.seconds) else { return nil }
        var error: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { bytes, count in
            let result = unsafe ProcPath(process, file).withPath { path in
                unsafe linux_read_in_time(path, bytes.baseAddress, limit, Self.patience)
            }
            if result < 0 { error = Int32(-result) }
            count = max(result, 0)
        }
        guard error == 0 else {
            switch error {
            case ETIMEDOUT: pause(process, at: BootTime.now.seconds)
            // No process is left for a reader, with a fork bomb of the same user for example, which has to be found and stopped.
            case EAGAIN: return try? ProcFile.read(ProcPath(process, file), limit: limit)
            default: break
            }
            return nil
        }
        return bytes
    }
}
