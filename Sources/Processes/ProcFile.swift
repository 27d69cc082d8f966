import CLinux
import Glibc
import Synchronization

/// Reading under `/proc` and in cgroups, where what is read may vanish between any two calls.
enum ProcFile {
    /// How often something could not be read for another reason than that it is gone or forbidden: for want of a
    /// descriptor or of memory, say. What was found meanwhile may be less than there is.
    private static let failures = Atomic<Int>(0)

    /// Does some looking, and tells whether all that there is could be looked at.
    static func isComplete<Found>(_ look: () -> Found) -> (found: Found, isComplete: Bool) {
        let before = failures.load(ordering: .relaxed)
        let found = look()
        return (found, failures.load(ordering: .relaxed) == before)
    }

    /// Takes note of why something could not be read.
    static func note(_ error: Int32) {
        guard ![ENOENT, ESRCH, ENODEV, ENOTDIR, EACCES, EPERM].contains(error) else { return }
        failures.add(1, ordering: .relaxed)
    }

    /// The first `limit` bytes of a file, or nil when it cannot be read, which mostly means that the process is gone.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            note(errno)
            return nil
        }
        let file = Descriptor(owning: number)

        var content: [UInt8] = []
        while content.count < limit {
            let chunk = readChunk(of: file, atMost: min(limit - content.count, 4096))
            guard let chunk else { return nil }
            if chunk.isEmpty { break }
            content += chunk
        }
        return content
    }

    private static func readChunk(of file: borrowing Descriptor, atMost count: Int) -> [UInt8]? {
        let number = file.rawValue
        var result = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            repeat {
                result = unsafe Glibc.read(number, buffer.baseAddress, count)
            } while result < 0 && errno == EINTR
            initialized = max(result, 0)
        }
        if result < 0 { note(errno) }
        return result < 0 ? nil : chunk
    }

    /// The entries of a directory that are process or thread numbers; none when it cannot be read.
    static func processIDs(in directory: String) -> [ProcessID] {
        var capacity = 64
        while true {
            var count = 0
            let ids = unsafe [ProcessID](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = unsafe linux_list_process_ids(directory, buffer.baseAddress, capacity)
                initialized = min(max(count, 0), capacity)
            }
            if count < 0 { note(Int32(-count)) }
            if count <= capacity { return ids }
            // More may have come by the time of the next call.
            capacity = count + count / 4
        }
    }
}
