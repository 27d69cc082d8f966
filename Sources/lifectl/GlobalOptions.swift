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

/// Another machine, on which a command is run instead of here: `--host USER@HOST`.
struct RemoteHost: Equatable {
    let destination: String
    /// The command's words, without those that name the machine.
    let arguments: [String]

    /// nil where no machine is named. What follows `--` belongs to somebody else.
    init?(arguments: [String]) throws(Failure) {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        guard let index = arguments[..<end].firstIndex(where: { $0 == "--host" || $0.hasPrefix("--host=") }) else {
            return nil
        }
        var rest = arguments
        let option = rest.remove(at: index)
        if option == "--host" {
            destination = index < end - 1 ? rest.remove(at: index) : ""
        } else {
            destination = String(option.dropFirst("--host=".count))
        }
        self.arguments = rest
        // ssh would take it for an option of its own.
        guard let first = destination.utf8.first, first != UInt8(ascii: "-") else {
            throw Failure(status: .usage, message: "--host takes a machine, as in: lifectl --host kim@kitchen list")
        }
    }

    /// What ssh is started with. The other machine's shell reads the last of it, so each word is quoted.
    var command: [String] {
        ["ssh", "--", destination, (["lifectl"] + arguments).map(Escaping.shell).joined(separator: " ")]
    }

    /// Becomes ssh. Its exit status is that of the command there, or 255.
    func run() throws(Failure) -> Never {
        signal(SIGPIPE, SIG_DFL)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp("ssh", &words)
        throw Failure(status: .unavailable, message: "cannot reach \(destination): ssh: \(Text.error(errno))")
    }
}
