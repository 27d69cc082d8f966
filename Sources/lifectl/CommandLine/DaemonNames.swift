import CommandLineTable
import ControlAPI

/// The names that the daemon of an unfinished command line knows, for completions.
enum DaemonNames {
    /// The time for an answer of the daemon.
    private static let patience = Duration.seconds(2)

    /// Returns values of which some are the answer to a question. The tabulator key prints no messages.
    static func values(_ question: @escaping @Sendable (inout Session) throws(Failure) -> [String]) -> Values {
        .known { line in
            guard var options = options(of: line, environment: Environment.value) else { return [] }
            options.explicitTimeout = patience
            guard var session = try? Session(options, doing: "cannot complete the command line") else { return [] }
            return ((try? question(&session)) ?? []).map(Text.printable)
        }
    }

    /// Returns the options that name the daemon; nil if it cannot be known.
    static func options(of line: CommandLineParser, environment: (String) -> String?) -> CallOptions? {
        // Another machine takes long, and may need a password.
        guard !line.arguments.has(.host), line.pending?.name != .socket, line.pending?.name != .host else { return nil }
        var options = line.arguments.options
        if let socket = line.arguments[.socket] {
            guard let path = ShellWord.meaning(of: socket, environment: environment) else { return nil }
            options.choice = .path(path)
        }
        return options
    }
}
