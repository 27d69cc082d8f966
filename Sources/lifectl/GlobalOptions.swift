import ArgumentParser
import ControlAPI
import Glibc

/// The options that every command has.
struct GlobalOptions: ParsableArguments {
    @Flag(help: "Talk to the system's daemon.")
    var system = false

    @Flag(help: "Talk to the user's own daemon.")
    var user = false

    @Option(help: ArgumentHelp("Talk to the daemon that listens at this path.", valueName: "path"))
    var socket: String?

    // Read before everything else, by RemoteHost; here it is for the help.
    @Option(help: ArgumentHelp("Run the command on another machine, through ssh.", valueName: "user@host"))
    var host: String?

    @Flag(help: "Print JSON: one object, or one a line.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "How long to wait for an answer, in seconds. (default: 60; none for monitor)", valueName: "seconds"))
    var timeout: Double?

    func validate() throws {
        let places = [system, user, socket != nil].count { $0 }
        guard places <= 1 else { throw ValidationError("--system, --user and --socket exclude one another") }
        if let timeout, !(timeout > 0 && timeout <= 1e9) {
            throw ValidationError("--timeout takes a positive number of seconds")
        }
        if let socket, socket.isEmpty { throw ValidationError("--socket takes a path") }
    }

    /// Words in which the options that every command has, as far as they stand before the command, stand behind it: that is
    /// where they are read.
    static func behindTheCommand(_ words: [String]) -> [String] {
        var command = words[...]
        var options: [String] = []
        while let word = command.first {
            let takesValue = word == "--socket" || word == "--timeout"
            guard
                takesValue || ["--system", "--user", "--json"].contains(word)
                    || word.hasPrefix("--socket=") || word.hasPrefix("--timeout=")
            else { break }
            options += command.prefix(takesValue ? 2 : 1)
            command = command.dropFirst(takesValue ? 2 : 1)
        }
        // By themselves they are no command, and what follows two hyphens belongs to somebody else.
        guard !options.isEmpty, let end = command.isEmpty ? nil : command.firstIndex(of: "--") ?? command.endIndex
        else {
            return words
        }
        return command[..<end] + options + command[end...]
    }

    var choice: SocketPath.Choice {
        if let socket { return .path(socket) }
        if system { return .system }
        return user ? .user : .automatic
    }

    /// What they say, apart from how it was said.
    var call: CallOptions { CallOptions(choice: choice, isJSON: json, explicitTimeout: timeout.map { .seconds($0) }) }

    /// Prints a reply: as JSON where that was asked for, and else as the text that is made of it.
    func show<Reply: Encodable>(_ reply: Reply, as text: (Presentation) -> String) throws {
        try call.show(reply, as: text)
    }
}
