import ArgumentParser
import ControlAPI
import Glibc

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the apps as they are, again and again: states, CPU, memory, what holds them and for how long.",
        discussion: """
            In a terminal: up and down (or k and j) choose an app, f brings it to the front, s suspends it, r resumes it, t \
            terminates it, q ends. Elsewhere one table after the other is printed. MEMORY counts what processes share in \
            each of them.

            Example: lifectl top --interval 2
            """)

    @Option(help: ArgumentHelp("How long between two pictures.", valueName: "seconds"))
    var interval = 1.0

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("End after so many pictures. (default: never)", valueName: "number"))
    var count: Int?

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard interval >= 0.1, interval <= 3600 else { throw ValidationError("--interval takes 0.1 to 3600 seconds") }
        if let count, count < 1 { throw ValidationError("--count takes a number of pictures") }
    }

    func run() throws {
        var session = try Session(options, doing: "cannot watch the apps")
        let isTerminal = StandardStream.output.isTerminal && isatty(STDIN_FILENO) == 1 && !options.json
        guard !isTerminal else { return try watch(&session) }
        // The share of a processor is that since the sample before.
        var before = try TopSample.take(&session, visible: 0..<Int.max, before: nil)
        var shown = 0
        while shown < count ?? .max {
            usleep(UInt32(interval * 1_000_000))
            before = try TopSample.take(&session, visible: 0..<Int.max, before: before)
            try options.show(before) { $0.top(before, rows: 0..<Int.max, selected: nil) + "\n" }
            shown += 1
        }
    }

    // MARK: In a terminal

    private func watch(_ session: inout Session) throws {
        let screen = try Screen()
        var view = TopView(program: options)
        while view.shown < count ?? .max {
            let rows = screen.size.rows - 4
            view.sample = try TopSample.take(&session, visible: view.visible(rows), before: view.sample)
            view.shown += 1
            let end = Instants.now + Int64(interval * 1_000_000)
            repeat {
                try screen.show(view.picture(rows))
                let keys = screen.keys(within: Int32((end - Instants.now) / 1000), or: view.descriptor)
                view.takeOutcome()
                for key in keys where !view.take(key) { return }
            } while Instants.now < end
        }
    }
}

/// What `lifectl top` shows, and what its keys do.
struct TopView {
    let program: GlobalOptions
    var sample: TopSample?
    var shown = 0
    /// By name, for rows move.
    private var selected: String?
    private var first = 0
    private var message = ""
    private var action: Action?

    init(program: GlobalOptions) { self.program = program }

    private var apps: [String] { sample?.rows.map(\.app.id) ?? [] }

    private var index: Int? { selected.flatMap { apps.firstIndex(of: $0) } ?? (apps.isEmpty ? nil : 0) }

    /// Which rows there is room for.
    func visible(_ rows: Int) -> Range<Int> { first..<first + max(1, rows) }

    mutating func picture(_ rows: Int) -> String {
        let index = index ?? 0
        first = min(max(first, index - max(1, rows) + 1), index)
        guard let sample else { return "" }
        let present = Presentation(style: .standardOutput, now: Instants.now)
        let running = sample.rows.count { $0.app.state != .suspended }
        let title = "\(sample.rows.count) apps, \(running) awake   \(Instants.clock(present.now))   "
        let keys = "↑↓ choose  f focus  s suspend  r resume  t terminate  q quit"
        let table = present.top(sample, rows: visible(rows), selected: index)
        return "\(present.style.heading(title))\(keys)\n\(Text.printable(message))\n\(table)"
    }

    /// - Returns: Whether to go on.
    mutating func take(_ key: Screen.Key) -> Bool {
        switch key {
        case .quit: return false
        case .up: move(-1)
        case .down: move(1)
        case .character("f"): act("focus")
        case .character("s"): act("suspend")
        case .character("r"): act("resume")
        case .character("t"): act("terminate")
        case .character: break
        }
        return true
    }

    private mutating func move(_ by: Int) {
        guard let index else { return }
        selected = apps[min(max(0, index + by), apps.count - 1)]
    }

    // MARK: Acting

    /// What to wait for beside keys: the end of what a key has begun.
    var descriptor: CInt { action?.descriptor ?? -1 }

    /// Runs the command of that name, so that nothing stands still while it waits, and what it says is the same.
    private mutating func act(_ verb: String) {
        guard let index, action == nil else { return }
        let id = apps[index]
        let words = ["/proc/self/exe", verb] + program.placeArguments + ["--", id]
        do throws(ChildProcess.CannotStart) {
            action = Action(try ChildProcess(words))
            message = "\(verb) \(id) …"
        } catch {
            message = "cannot run lifectl \(verb): \(Text.error(error.errno))"
        }
    }

    /// Shows what became of what a key has begun, once it is done.
    mutating func takeOutcome() {
        guard let action, let outcome = action.outcome() else { return }
        message = outcome
        self.action = nil
    }
}

/// A command that a key has begun.
private final class Action {
    private var child: ChildProcess

    init(_ child: consuming ChildProcess) { self.child = child }

    var descriptor: CInt { child.descriptor }

    /// What it had to say, once it is done.
    func outcome() -> String? {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 0) > 0 else { return nil }
        let line = child.nextLine().map { String(decoding: $0, as: UTF8.self) }
        return child.finish().complaints.last ?? line ?? ""
    }
}

extension GlobalOptions {
    /// The options that say which daemon is meant, for another lifectl.
    var placeArguments: [String] {
        if let socket { return ["--socket", socket] }
        return system ? ["--system"] : user ? ["--user"] : []
    }
}
