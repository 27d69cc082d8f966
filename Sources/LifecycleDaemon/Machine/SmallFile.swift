import Glibc
import Processes

/// A file of the kernel's: short, and made anew for each reader.
enum SmallFile {
    /// A file's first 8 KiB, which is more than the files have that are read here.
    static func read(_ path: String) throws(Processes.Errno) -> String {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Processes.Errno(rawValue: errno) }
        let file = Descriptor(owning: number)
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while content.count < 8192 {
            let count = unsafe Glibc.read(file.rawValue, &chunk, chunk.count)
            guard count >= 0 else { throw Processes.Errno(rawValue: errno) }
            if count == 0 { break }
            content += chunk.prefix(count)
        }
        return String(decoding: content, as: UTF8.self)
    }
}
