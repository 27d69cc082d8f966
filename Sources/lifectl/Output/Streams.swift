import Glibc

/// Standard output or standard error, unbuffered: each line is there once it is written, in a pipe too.
enum StandardStream: CInt {
    case output = 1
    case error = 2

    /// Opens /dev/null at the numbers of closed standard streams, so that the socket gets none of them and no result is
    /// written into it. /dev/null is opened for reading only, so that a lost result is a failure.
    static func openMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The width of the terminal; nil if the stream is no terminal or its size is not known.
    var columns: Int? { size.ws_col > 0 ? Int(size.ws_col) : nil }

    /// The height of the terminal; nil as for the width.
    var rows: Int? { size.ws_row > 0 ? Int(size.ws_row) : nil }

    /// The size of the terminal in characters; zeros if the stream is no terminal.
    private var size: winsize {
        var size = winsize()
        return unsafe ioctl(rawValue, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
    }

    /// Waits until a descriptor is readable, for some time at most; nil is no limit.
    ///
    /// - Throws: ``Failure/readerGone`` when the stream is a pipe or a terminal whose other end is closed.
    func waitForInput(of descriptor: CInt, within time: Duration?) throws(Failure) {
        // Rounded up, so that the time is over afterwards.
        let milliseconds = time.map { Int32(clamping: max(0, Int64($0 / .milliseconds(1)) + 1)) } ?? -1
        var entries = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: rawValue, events: 0, revents: 0),
        ]
        // Without events, poll(2) reports POLLERR and POLLHUP alone.
        _ = unsafe poll(&entries, 2, milliseconds)
        if entries[1].revents != 0 { throw Failure.readerGone }
    }

    func write(_ text: String) throws(Failure) {
        switch DescriptorIO.write(Array(text.utf8), to: rawValue) {
        case 0: return
        case EPIPE: throw Failure.readerGone
        case let error:
            throw Failure(
                .output, "cannot write the result", Text.error(error), remedy: "free some space, or write elsewhere")
        }
    }
}

/// System calls on descriptors.
enum DescriptorIO {
    /// Writes all bytes.
    ///
    /// - Returns: 0, or the errno of write(2).
    static func write(_ bytes: [UInt8], to descriptor: CInt) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest.removeFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another program that shares the stream may have made it non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            case let error: return error
            }
        }
        return 0
    }

    /// Returns whether there is something to read, or the other end is closed.
    static func isReadable(_ descriptor: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Waits for one of the descriptors to become readable, for some milliseconds at most; a negative time has no limit.
    ///
    /// - Returns: The descriptors that are readable.
    static func wait(for descriptors: [CInt], milliseconds: Int32) -> [CInt] {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }
        return entries.filter { $0.revents != 0 }.map { $0.fd }
    }
}

/// Small files.
enum OutputFile {
    /// Replaces the content of a file. If the file system has no room for the text, the file stays as it was.
    static func write(_ text: String, to path: String) throws(Failure) {
        let bytes = Array(text.utf8)
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        var error = file < 0 ? errno : 0
        if file >= 0 {
            error = Self.error(ofWriting: bytes, to: file)
            if close(file) != 0, error == 0 { error = errno }
        }
        guard error == 0 else {
            throw Failure(.output, "cannot write \(path)", Text.error(error), remedy: remedy(for: error))
        }
    }

    private static func remedy(for error: Int32) -> String {
        switch error {
        case ENOENT, ENOTDIR: "make its directory, or name another file"
        case EISDIR: "name a file in the directory"
        case EACCES, EPERM, EROFS: "name a file that you may write"
        default: "free some space, or write elsewhere"
        }
    }

    private static func error(ofWriting bytes: [UInt8], to file: CInt) -> Int32 {
        // A terminal or a pipe cannot reserve space, and needs none.
        let reservation = posix_fallocate(file, 0, bytes.count)
        if [ENOSPC, EDQUOT, EFBIG].contains(reservation) { return reservation }
        let error = DescriptorIO.write(bytes, to: file)
        if error != 0 { return error }
        return ftruncate(file, bytes.count) == 0 || errno == EINVAL ? 0 : errno
    }

    /// The size of the largest file that the daemon reads, in bytes.
    private static let sizeLimit = 1 << 20

    /// The error that a file cannot be read.
    struct Unreadable: Error {
        /// The error of the system; EFBIG if the daemon reads no file of its size.
        let errno: Int32
    }

    /// Returns the text of a file; nil if it cannot be read, or the daemon reads no file of its size.
    static func read(_ path: String) -> String? { try? text(of: path) }

    /// Returns the text of a file.
    static func text(of path: String) throws(Unreadable) -> String {
        guard let file = unsafe fopen(path, "re") else { throw Unreadable(errno: errno) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        while bytes.count <= sizeLimit {
            let part = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
                unsafe count = fread(buffer.baseAddress, 1, buffer.count, file)
            }
            guard unsafe ferror(file) == 0 else { throw Unreadable(errno: errno) }
            guard !part.isEmpty else { break }
            bytes += part
        }
        guard bytes.count <= sizeLimit else { throw Unreadable(errno: EFBIG) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
