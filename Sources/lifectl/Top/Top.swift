import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

/// `lifectl top`
struct Top {
    private let options: CallOptions
    private let interval: Double
    private let count: Int?

    static func run(_ arguments: Arguments) throws(Failure) {
        let interval = arguments[.interval].flatMap(Double.init) ?? 1
        try Top(options: arguments.options, interval: interval, count: arguments.number(.count)).run()
    }

    private func run() throws(Failure) {
        let session = try DaemonConnection(options, doing: "cannot watch the apps")
        let isTerminal = StandardStream.output.isTerminal && isatty(STDIN_FILENO) == 1 && !options.isJSON
        guard !isTerminal else { return try watch(session) }
        // A load is the share of a processor since the sample before.
        var before = try TopSample(of: session, visible: 0..<Int.max, before: nil)
        var shown = 0
        while shown < count ?? .max {
            usleep(UInt32(interval * 1_000_000))
            before = try TopSample(of: session, visible: 0..<Int.max, before: before)
            try options.show(before) { $0.top(before, rows: 0..<Int.max, selected: nil) + "\n" }
            shown += 1
        }
    }

    /// Shows samples on a terminal, and acts on keys.
    private func watch(_ session: DaemonConnection) throws(Failure) {
        let screen = try TopScreen()
        var view = TopView(session.options)
        while view.shown < count ?? .max {
            let rows = screen.size.rows - 4
            view.sample = try TopSample(of: session, visible: view.visible(rows), before: view.sample)
            view.shown += 1
            let end = Instants.monotonic + Int64(interval * 1_000_000)
            repeat {
                try screen.show(view.picture(rows))
                let keys = screen.keys(within: Int32(clamping: (end - Instants.monotonic) / 1000), or: view.descriptor)
                view.showOutcome()
                for key in keys where !view.handle(key) { return }
            } while Instants.monotonic < end
        }
    }
}

/// The screen of `lifectl top`, and the actions of its keys.
struct TopView {
    let options: CallOptions
    var sample: TopSample?
    var shown = 0
    /// The id of the selected app: rows move.
    private var selected: String?
    private var first = 0
    private var message = ""
    /// The command of a key.
    private var command: ChildProcess?

    init(_ options: CallOptions) { self.options = options }

    private var apps: [String] { sample?.rows.map { $0.app.id } ?? [] }

    private var index: Int? { selected.flatMap { apps.firstIndex(of: $0) } ?? (apps.isEmpty ? nil : 0) }

    func visible(_ rows: Int) -> Range<Int> { first..<first + max(1, rows) }

    mutating func picture(_ rows: Int) -> String {
        let index = index ?? 0
        first = min(max(first, index - max(1, rows) + 1), index)
        guard let sample else { return "" }
        let present = TextPresentation(style: .standardOutput, now: Instants.now)
        let running = sample.rows.count { $0.app.state != .suspended }
        let title = "\(sample.rows.count) apps, \(running) running   \(Instants.clock(present.now))   "
        let keys = "↑↓ choose  f focus  s suspend  r resume  t terminate  q quit"
        let table = present.top(sample, rows: visible(rows), selected: index)
        return "\(present.style.heading(title))\(keys)\n\(Text.printable(message))\n\(table)"
    }

    /// - Returns: False if the key ends the program.
    mutating func handle(_ key: TopScreen.Key) -> Bool {
        switch key {
        case .quit: return false
        case .up: moveSelection(by: -1)
        case .down: moveSelection(by: 1)
        case .character("f"): begin("focus")
        case .character("s"): begin("suspend")
        case .character("r"): begin("resume")
        case .character("t"): begin("terminate")
        case .character: break
        }
        return true
    }

    private mutating func moveSelection(by distance: Int) {
        guard let index else { return }
        selected = apps[min(max(0, index + distance), apps.count - 1)]
    }

    /// Readable when the command of a key has ended; -1 if there is none.
    var descriptor: CInt { command?.descriptor ?? -1 }

    /// Runs the command of that name as a child, so that the screen does not wait for it.
    private mutating func begin(_ verb: String) {
        guard let index, command == nil else { return }
        let id = apps[index]
        let words = ["/proc/self/exe", verb] + options.daemonArguments + ["--", id]
        do throws(ChildProcess.CannotStart) {
            command = try ChildProcess(words)
            message = "\(verb) \(id) …"
        } catch {
            message = "cannot \(verb) \(id): \(Text.error(error.errno)); try again"
        }
    }

    /// Shows the output of the command of a key, once it has ended.
    mutating func showOutcome() {
        guard let command, DescriptorIO.isReadable(command.descriptor) else { return }
        let line = command.nextLine().map { String(decoding: $0, as: UTF8.self) }
        message = command.finish().complaints.last ?? line ?? ""
        self.command = nil
    }
}

extension CallOptions {
    /// The options of the same daemon, for another lifectl.
    var daemonArguments: [String] {
        switch choice {
        case .automatic: []
        case .user: ["--user"]
        case .system: ["--system"]
        case .path(let path): ["--socket", path]
        }
    }
}

/// The attributes of the terminal at the start. Global, because a signal handler has no context.
nonisolated(unsafe) private var attributesBefore = termios()

/// A terminal in raw mode on its alternate screen. The former mode returns with the end of the value, and on a signal that
/// ends the program.
struct TopScreen: ~Copyable {
    /// Alternate screen, no cursor; and back.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l"
    private static let leave: StaticString = "\u{1b}[?25h\u{1b}[?1049l"

    enum Key: Equatable { case up, down, quit, character(Character) }

    init() throws(Failure) {
        guard unsafe tcgetattr(STDIN_FILENO, &attributesBefore) == 0 else {
            throw Failure(.failed, "cannot use the terminal", Text.error(errno))
        }
        var attributes = unsafe attributesBefore
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
        for number in [SIGTERM, SIGHUP, SIGINT] {
            signal(number) { number in
                TopScreen.restore()
                // The signal ends the program when the handler returns.
                signal(number, nil)
                raise(number)
            }
        }
        try StandardStream.output.write(Self.enter)
    }

    deinit { Self.restore() }

    private static func restore() {
        _ = unsafe Glibc.write(STDOUT_FILENO, leave.utf8Start, leave.utf8CodeUnitCount)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &attributesBefore)
    }

    var size: (columns: Int, rows: Int) {
        (StandardStream.output.columns ?? 80, max(6, StandardStream.output.rows ?? 24))
    }

    /// Replaces the content of the screen; lines are cut at the width.
    func show(_ text: String) throws(Failure) {
        let (columns, rows) = size
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(rows)
        let picture = lines.map { TextPresentation.cut($0, to: columns) + "\u{1b}[K" }.joined(separator: "\r\n")
        try StandardStream.output.write("\u{1b}[H" + picture + "\u{1b}[J")
    }

    /// Waits for keys, until the time is over or the other descriptor is readable.
    func keys(within milliseconds: Int32, or other: CInt = -1) -> [Key] {
        let readable = DescriptorIO.wait(for: [STDIN_FILENO, other], milliseconds: max(0, milliseconds))
        guard readable.contains(STDIN_FILENO) else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
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
