import Glibc

/// Files that results are written into, and small ones that are read.
enum TextFile {
    /// Replaces what the file contains.
    static func write(_ text: String, to path: String) throws(Failure) {
        guard let file = unsafe fopen(path, "we") else { throw failure(path) }
        let bytes = Array(text.utf8)
        let count = unsafe fwrite(bytes, 1, bytes.count, file)
        let isClosed = unsafe fclose(file) == 0
        guard count == bytes.count, isClosed else { throw failure(path) }
    }

    private static func failure(_ path: String) -> Failure {
        Failure(status: .output, message: "cannot write \(path): \(Text.error(errno))")
    }

    /// What is in a file, as much as 64 KiB; nil where it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            unsafe count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return unsafe ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
