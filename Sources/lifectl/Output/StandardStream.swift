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
