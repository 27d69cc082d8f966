import Glibc
import Processes
import TestSupport
import Testing

/// Makes a directory for the body, and removes it with its contents.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = try TemporaryDirectory()
    return try withExtendedLifetime(directory) { try body(directory.path) }
}

/// Writes a file that only its owner may read.
func write(_ bytes: [UInt8], to path: String) {
    let file = Descriptor(owning: unsafe creat(path, 0o600))
    #expect(unsafe Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count)
}

/// Returns the names in a directory.
func names(in path: String) -> [String] {
    guard let directory = unsafe opendir(path) else { return [] }
    defer { unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
}
