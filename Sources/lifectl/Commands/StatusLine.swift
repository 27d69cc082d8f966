import CommandLineTable
import ControlAPI
import LifecycleTypes
import Varlink

/// `lifectl status --follow`: one line about all apps, for the status bar of a desktop.
struct StatusLine: Equatable {
    enum Format: String, CaseIterable {
        case text, waybar
    }

    private struct Entry: Equatable {
        var name: String
        var state: AppState
    }

    private var entries: [String: Entry] = [:]

    static func run(_ arguments: Arguments) throws(Failure) {
        let format = arguments.word(.format, of: Format.self) ?? .text
        let session = try DaemonConnection(arguments.options, doing: "cannot follow the apps")
        try session.monitor()
        var line = StatusLine()
        var shown: String?
        while let reply = try session.nextChange(timeout: arguments.options.explicitTimeout) {
            line.apply(reply) { id in
                session.options.runningApps().first { $0.id == id }?.name
            }
            let output = line.output(format)
            guard output != shown else { continue }
            try StandardStream.output.write(output)
            shown = output
        }
        throw Failure.subscriptionEnded
    }

    /// Applies a change.
    ///
    /// - Parameter findName: Returns the name of an app that the line does not have; nil for an app without one.
    mutating func apply(_ reply: MonitorReply, findName: (String) -> String?) {
        if let apps = reply.apps {
            entries = apps.reduce(into: [:]) { $0[$1.id] = Entry(name: $1.name ?? $1.id, state: $1.state) }
        }
        guard let change = reply.transition else { return }
        if change.to == .notRunning {
            entries[change.id] = nil
        } else {
            let name = entries[change.id]?.name ?? findName(change.id) ?? change.id
            entries[change.id] = Entry(name: name, state: change.to)
        }
    }

    func output(_ format: Format) -> String {
        switch format {
        case .text: text + "\n"
        case .waybar: JSON.line(self)
        }
    }

    // MARK: Contents

    private var running: [Entry] {
        entries.filter { $0.value.state != .notRunning }.sorted { $0.key < $1.key }.map { $0.value }
    }

    /// The foreground apps.
    private var foreground: [String] {
        running.filter { $0.state == .active || $0.state == .inactive }.map { Text.printable($0.name) }
    }

    /// The foreground apps, and the number of apps in each other state.
    var text: String {
        let counts: [(AppState, String)] = [
            (.background, "in the background"), (.suspended, "suspended"), (.terminating, "ending"),
        ]
        let others = counts.compactMap { state, words -> String? in
            let count = running.count { $0.state == state }
            return count > 0 ? "\(count) \(words)" : nil
        }
        return ([foreground.isEmpty ? "no foreground app" : foreground.joined(separator: ", ")] + others)
            .joined(separator: "  ")
    }

    private var tooltip: String {
        running.map { Escaping.xml("\($0.name): \($0.state.rawValue)") }.joined(separator: "\n")
    }

    /// The state of the foreground app, for the style of the bar.
    private var style: String {
        running.contains { $0.state == .active } ? "active" : foreground.isEmpty ? "empty" : "inactive"
    }
}

extension StatusLine: JSONWritable {
    /// Writes the object of a module of waybar-custom(5). Its texts are Pango markup.
    var json: JSONValue {
        [
            "text": Escaping.xml(text).json, "alt": style.json, "tooltip": tooltip.json, "class": style.json,
        ]
    }
}
