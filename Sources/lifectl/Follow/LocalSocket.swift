import CLinux

/// A connection to an AF_UNIX stream socket of another program.
final class LocalSocket {
    let descriptor: CInt

    /// The time for which the backlog or the buffer of the program may be full, in seconds.
    private static let patience = 5

    init(path: String) throws(SourceLost) {
        descriptor = CLinux.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SourceLost(reason: "socket: \(Text.error(linux_errno()))") }
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let result = unsafe linux_connect_path(descriptor, path, path.utf8.count)
        guard result == 0 else {
            close(descriptor)
            throw SourceLost(reason: "\(path): \(Text.error(-result))")
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws(SourceLost) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { rest in
                unsafe CLinux.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if linux_errno() != EINTR {
                throw SourceLost(reason: Text.error(linux_errno()))
            }
        }
    }

    /// Reads the bytes that have come, without waiting.
    func read() throws(SourceLost) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { storage, length in
            count = unsafe recv(descriptor, storage.baseAddress, storage.count, CInt(MSG_DONTWAIT))
            length = max(0, count)
        }
        if count == 0 { throw SourceLost(reason: "it closed the connection") }
        if count < 0, linux_errno() != EAGAIN, linux_errno() != EINTR {
            throw SourceLost(reason: Text.error(linux_errno()))
        }
        return bytes
    }
}

/// Directories.
enum Directory {
    /// The directory of the running lifectl.
    static var ofThisProgram: String? {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(path) }
        guard let text = unsafe String(validatingCString: path), let slash = text.lastIndex(of: "/") else { return nil }
        return String(text[..<slash])
    }

    static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(validatingCString: $0)
                }
            }
            if let name { names.append(name) }
        }
        return names
    }
}
