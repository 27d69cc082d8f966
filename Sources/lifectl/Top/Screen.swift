import Glibc

/// The terminal's attributes as they were, for the handler of a signal that ends the program: it can be given nothing.
nonisolated(unsafe) private var attributesBefore = termios()

/// A terminal that shows whole pictures and gives single keys. What it was before comes back in the end, and when the
/// program is asked to end.
struct Screen: ~Copyable {
    /// Alternate screen, no cursor; and back.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l"
    private static let leave: StaticString = "\u{1b}[?25h\u{1b}[?1049l"

    enum Key: Equatable { case up, down, quit, character(Character) }

    init() throws {
        guard unsafe tcgetattr(STDIN_FILENO, &attributesBefore) == 0 else {
            throw Failure(status: .failed, message: "the terminal does not answer: \(Text.error(errno))")
        }
        var attributes = unsafe attributesBefore
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        for number in [SIGTERM, SIGHUP, SIGINT] {
            signal(number) { _ in
                Screen.restore()
                _exit(1)
            }
        }
        try StandardStream.output.write(Self.enter)
    }

    deinit { Self.restore() }

    private static func restore() {
        _ = unsafe Glibc.write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributesBefore)
    }

    /// How many columns and rows there are.
    var size: (columns: Int, rows: Int) {
        (StandardStream.output.columns ?? 80, max(6, StandardStream.output.rows ?? 24))
    }

    /// Shows lines from the top, each cut off at the width; what was there before goes.
    func show(_ text: String) throws {
        let (columns, rows) = size
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
        let picture = lines.map { Presentation.cut($0, to: columns) + "\u{1b}[K" }.joined(separator: "\r\n")
        try StandardStream.output.write("\u{1b}[H" + picture + "\u{1b}[J")
    }

    /// The keys that were pressed; none when the time is over or the other descriptor has something to read.
    func keys(within milliseconds: Int32, or other: CInt = -1) -> [Key] {
        var entries = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe poll(&entries, 2, max(0, milliseconds)) > 0, entries[0].revents != 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Self.keys(bytes.prefix(count)) : [.quit]
    }

    /// What a terminal sends for keys. Arrows are sequences of three bytes; several keys may come at once.
    static func keys(_ bytes: some Collection<UInt8>) -> [Key] {
        var rest = Array(bytes)[...]
        var keys: [Key] = []
        while let first = rest.popFirst() {
            switch first {
            case 0x1b:
                guard rest.first == UInt8(ascii: "[") || rest.first == UInt8(ascii: "O") else { continue }
                rest.removeFirst()
                switch rest.popFirst() {
                case UInt8(ascii: "A"): keys.append(.up)
                case UInt8(ascii: "B"): keys.append(.down)
                default: continue
                }
            case 0x03, 0x04, UInt8(ascii: "q"): keys.append(.quit)
            case UInt8(ascii: "k"): keys.append(.up)
            case UInt8(ascii: "j"): keys.append(.down)
            default: keys.append(.character(Character(Unicode.Scalar(first))))
            }
        }
        return keys
    }
}
