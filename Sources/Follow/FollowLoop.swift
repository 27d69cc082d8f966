import Glibc
import WindowLines

/// A connection to a screen whose windows are followed.
protocol WindowSource: AnyObject {
    /// The descriptor of the connection.
    var descriptor: CInt { get }

    /// A Boolean value that indicates whether requests wait for room in the connection.
    var hasUnsent: Bool { get }

    /// Handles what has come, and sends what is due. Does not wait.
    ///
    /// - Returns: Whether the line may be another one now.
    func handleEvents() throws(SourceEnd) -> Bool

    /// Returns the present line; nil as long as the screen has not told its windows.
    func currentLine() throws(SourceEnd) -> WindowLine?
}

/// The end of a screen, or the reason why it cannot be followed.
struct SourceEnd: Error, Equatable {
    let reason: String
}

/// Writes the line of a source after each change, until the reader or the screen has gone.
struct FollowLoop {
    private let source: any WindowSource
    private var writer = LineWriter(STDOUT_FILENO)

    init(_ source: any WindowSource) { self.source = source }

    mutating func run() throws(SourceEnd) {
        var hasNews = true
        while true {
            if try source.handleEvents() { hasNews = true }
            if hasNews, writer.isIdle {
                hasNews = false
                if let line = try source.currentLine() { writer.begin(line) }
                // Events may have come with the answers, and do not make the descriptor readable.
                continue
            }
            guard wait() else { return }
        }
    }

    /// Waits for the screen or the reader, and writes what the reader takes.
    ///
    /// - Returns: false if the reader has gone.
    private mutating func wait() -> Bool {
        var entries = [
            pollfd(fd: source.descriptor, events: Int16(source.hasUnsent ? POLLIN | POLLOUT : POLLIN), revents: 0),
            pollfd(fd: writer.descriptor, events: Int16(writer.isIdle ? 0 : POLLOUT), revents: 0),
        ]
        while unsafe poll(&entries, nfds_t(entries.count), -1) < 0 {
            guard errno == EINTR else { return false }
        }
        let found = entries[1].revents
        if found & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return false }
        return found & Int16(POLLOUT) == 0 || writer.write()
    }

    /// Writes a message to standard error.
    static func complain(_ message: String) {
        let bytes = Array("\(message)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// Writes lines to a pipe without ever waiting for its reader: while a line is on its way there is no other.
struct LineWriter {
    let descriptor: CInt
    private var last: [UInt8] = []
    private var position = 0

    /// The number of bytes that a pipe takes at once if it takes any.
    private static let pieceLength = 4096

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// A Boolean value that indicates whether the last line is written.
    var isIdle: Bool { position == last.count }

    /// Begins a line, unless it is the last one again.
    mutating func begin(_ line: WindowLine) {
        let bytes = line.bytes
        guard bytes != last else { return }
        last = bytes
        position = 0
    }

    /// Writes a piece. The descriptor must be writable.
    ///
    /// - Returns: false if the reader has gone.
    mutating func write() -> Bool {
        let end = min(position + Self.pieceLength, last.count)
        let count = unsafe last[position..<end].withUnsafeBytes { piece in
            unsafe Glibc.write(descriptor, piece.baseAddress, piece.count)
        }
        if count < 0 { return errno == EINTR || errno == EAGAIN }
        position += count
        return true
    }
}
