import Glibc

/// Standard output or standard error, unbuffered: each line is there once it is written, in a pipe too.
enum StandardStream: CInt {
    case output = 1
    case error = 2

    /// Takes the numbers of standard streams that whoever started lifectl has closed, so that the socket gets none of
    /// them and no result is written into it. What is opened cannot be written to, so a lost result is a failure.
    static func holdMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// How wide and how high the terminal is; nil where this is none, or one that does not say.
    var columns: Int? { size.ws_col > 0 ? Int(size.ws_col) : nil }
    var rows: Int? { size.ws_row > 0 ? Int(size.ws_row) : nil }

    private var size: winsize {
        var size = winsize()
        return unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { rest in
                unsafe Glibc.write(rawValue, rest.baseAddress, rest.count)
            }
            if count >= 0 {
                written += count
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: waitUntilWritable()
            case EPIPE: throw ReaderGone()
            case let error:
                throw Failure(status: .output, message: "cannot write the result: \(Text.error(error))")
            }
        }
    }

    /// Somebody who shares the stream may have made it non-blocking.
    private func waitUntilWritable() {
        var entry = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, -1)
    }
}

/// Files that results are written into, and small ones that are read.
enum TextFile {
    /// Replaces what the file contains. Where there is no room for that, it is as it was.
    static func write(_ text: String, to path: String) throws(Failure) {
        let bytes = Array(text.utf8)
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw failure(path) }
        guard hasRoom(for: bytes.count, in: file), put(bytes, into: file) else {
            let failure = failure(path)
            close(file)
            throw failure
        }
        guard close(file) == 0 else { throw failure(path) }
    }

    /// Reserves the space that is needed; a terminal or a pipe has none.
    private static func hasRoom(for size: Int, in file: Int32) -> Bool {
        errno = posix_fallocate(file, 0, size)
        return ![ENOSPC, EDQUOT, EFBIG].contains(errno)
    }

    private static func put(_ bytes: [UInt8], into file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 { rest.removeFirst(count) } else if errno != EINTR { return false }
        }
        return ftruncate(file, bytes.count) == 0 || errno == EINVAL
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
