import ArgumentParser
import ControlAPI
import Glibc

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Flag(help: "Talk to the system's daemon.")
    var system = false

    @Flag(help: "Talk to the user's own daemon.")
    var user = false

    @Option(help: ArgumentHelp("Talk to the daemon that listens at this path.", valueName: "path"))
    var socket: String?

    // Read by RemoteHost; declared here for the help.
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

    /// Returns the words with the options before the command moved behind it, where ArgumentParser reads them.
    static func movedBehindCommand(_ words: [String]) -> [String] {
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
        guard !options.isEmpty, !command.isEmpty else { return words }
        // The words behind -- belong to another program.
        let end = command.firstIndex(of: "--") ?? command.endIndex
        return command[..<end] + options + command[end...]
    }

    var choice: SocketPath.Choice {
        if let socket { return .path(socket) }
        if system { return .system }
        return user ? .user : .automatic
    }

    var callOptions: CallOptions {
        CallOptions(choice: choice, isJSON: json, explicitTimeout: timeout.map { .seconds($0) })
    }
}

extension GlobalOptions: DaemonCaller {}

/// The other machine on which a command runs: `--host USER@HOST`.
struct RemoteHost: Equatable {
    let destination: String
    /// The arguments without `--host`.
    let arguments: [String]

    /// Creates the machine that the arguments before `--` name; nil if they name none.
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
        // ssh reads a leading hyphen as an option.
        guard let first = destination.utf8.first, first != UInt8(ascii: "-") else {
            throw Failure(status: .usage, message: "--host takes a machine, as in: lifectl --host kim@kitchen list")
        }
    }

    /// The command line of ssh. The shell of the other machine reads the last word, so the words in it are quoted.
    var command: [String] {
        ["ssh", "--", destination, (["lifectl"] + arguments).map(Escaping.shell).joined(separator: " ")]
    }

    /// Executes ssh. The exit status is that of the command on the other machine, or 255.
    func run() throws(Failure) -> Never {
        signal(SIGPIPE, SIG_DFL)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp("ssh", &words)
        throw Failure(status: .unavailable, message: "cannot reach \(destination): ssh: \(Text.error(errno))")
    }
}
