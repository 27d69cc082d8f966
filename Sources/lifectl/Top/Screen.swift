import CLinux

/// The attributes of the terminal at the start. Global, because a signal handler has no context.
nonisolated(unsafe) private var attributesBefore = termios()

/// A terminal in raw mode on its alternate screen. The former mode returns with the end of the value, and on a signal that
/// ends the program.
struct Screen: ~Copyable {
    /// Alternate screen, no cursor; and back.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l"
    private static let leave: StaticString = "\u{1b}[?25h\u{1b}[?1049l"

    enum Key: Equatable { case up, down, quit, character(Character) }

    init() throws(Failure) {
        guard unsafe tcgetattr(STDIN_FILENO, &attributesBefore) == 0 else {
            throw Failure(.failed, "cannot use the terminal", Text.error(linux_errno()))
        }
        var attributes = unsafe attributesBefore
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        for number in [SIGTERM, SIGHUP, SIGINT] {
            signal(number) { number in
                Screen.restore()
                // The signal ends the program when the handler returns.
                signal(number, nil)
                raise(number)
            }
        }
        try StandardStream.output.write(Self.enter)
    }

    deinit { Self.restore() }

    private static func restore() {
        _ = unsafe CLinux.write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributesBefore)
    }

    var size: (columns: Int, rows: Int) {
        (StandardStream.output.columns ?? 80, max(6, StandardStream.output.rows ?? 24))
    }

    /// Replaces the content of the screen; lines are cut at the width.
    func show(_ text: String) throws(Failure) {
        let (columns, rows) = size
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
        let picture = lines.map { Presentation.cut($0, to: columns) + "\u{1b}[K" }.joined(separator: "\r\n")
        try StandardStream.output.write("\u{1b}[H" + picture + "\u{1b}[J")
    }

    /// Waits for keys, until the time is over or the other descriptor is readable.
    func keys(within milliseconds: Int32, or other: CInt = -1) -> [Key] {
        let readable = Descriptor.wait(for: [STDIN_FILENO, other], milliseconds: max(0, milliseconds))
        guard readable.contains(STDIN_FILENO) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe CLinux.read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? Self.keys(bytes.prefix(count)) : [.quit]
    }

    /// Returns the keys of a terminal's bytes. Arrows are sequences of three bytes; several keys may come at once.
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
