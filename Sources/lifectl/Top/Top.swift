import ArgumentParser
import ControlAPI
import Glibc
import LifecycleTypes

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        "top", "Show the apps as they are, again and again: states, CPU, memory, what holds them and for how long.",
        discussion: """
            In a terminal: up and down (or k and j) choose an app, f brings it to the front, s suspends it, r resumes it, t \
            terminates it, q ends. Elsewhere one table after the other is printed. MEMORY counts what processes share in \
            each of them.
            """, example: "lifectl top --interval 2")

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
        var session = try Session(options.callOptions, doing: "cannot watch the apps")
        let isTerminal = StandardStream.output.isTerminal && isatty(STDIN_FILENO) == 1 && !options.json
        guard !isTerminal else { return try watch(&session) }
        // A load is the share of a processor since the sample before.
        var before = try TopSample.take(&session, visible: 0..<Int.max, before: nil)
        var shown = 0
        while shown < count ?? .max {
            usleep(UInt32(interval * 1_000_000))
            before = try TopSample.take(&session, visible: 0..<Int.max, before: before)
            try options.show(before) { $0.top(before, rows: 0..<Int.max, selected: nil) + "\n" }
            shown += 1
        }
    }

    /// Shows samples on a terminal, and acts on keys.
    private func watch(_ session: inout Session) throws {
        let screen = try Screen()
        var view = TopView(options)
        while view.shown < count ?? .max {
            let rows = screen.size.rows - 4
            view.sample = try TopSample.take(&session, visible: view.visible(rows), before: view.sample)
            view.shown += 1
            let end = Instants.now + Int64(interval * 1_000_000)
            repeat {
                try screen.show(view.picture(rows))
                let keys = screen.keys(within: Int32((end - Instants.now) / 1000), or: view.descriptor)
                view.showOutcome()
                for key in keys where !view.handle(key) { return }
            } while Instants.now < end
        }
    }
}

/// The screen of `lifectl top`, and the actions of its keys.
struct TopView {
    let options: GlobalOptions
    var sample: TopSample?
    var shown = 0
    /// The id of the selected app: rows move.
    private var selected: String?
    private var first = 0
    private var message = ""
    private var action: Action?

    init(_ options: GlobalOptions) { self.options = options }

    private var apps: [String] { sample?.rows.map(\.app.id) ?? [] }

    private var index: Int? { selected.flatMap { apps.firstIndex(of: $0) } ?? (apps.isEmpty ? nil : 0) }

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

    /// - Returns: False if the key ends the program.
    mutating func handle(_ key: Screen.Key) -> Bool {
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
    var descriptor: CInt { action?.descriptor ?? -1 }

    /// Runs the command of that name as a child, so that the screen does not wait for it.
    private mutating func begin(_ verb: String) {
        guard let index, action == nil else { return }
        let id = apps[index]
        let words = ["/proc/self/exe", verb] + options.daemonArguments + ["--", id]
        do throws(ChildProcess.CannotStart) {
            action = Action(try ChildProcess(words))
            message = "\(verb) \(id) …"
        } catch {
            message = "cannot run lifectl \(verb): \(Text.error(error.errno))"
        }
    }

    /// Shows the output of the command of a key, once it has ended.
    mutating func showOutcome() {
        guard let outcome = action?.outcome() else { return }
        message = outcome
        action = nil
    }
}

/// The command of a key.
private final class Action {
    private var child: ChildProcess

    init(_ child: consuming ChildProcess) { self.child = child }

    var descriptor: CInt { child.descriptor }

    /// Returns the output of the command; nil until it has ended.
    func outcome() -> String? {
        guard Descriptor.isReadable(descriptor) else { return nil }
        let line = child.nextLine().map { String(decoding: $0, as: UTF8.self) }
        return child.finish().complaints.last ?? line ?? ""
    }
}

extension GlobalOptions {
    /// The options of the same daemon, for another lifectl.
    var daemonArguments: [String] {
        if let socket { return ["--socket", socket] }
        return system ? ["--system"] : user ? ["--user"] : []
    }
}
