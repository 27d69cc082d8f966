import CLinux

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
            throw Failure(
                .usage, "cannot read the command line", "--host takes a machine",
                remedy: "name one, as in: lifectl --host kim@kitchen list")
        }
    }

    /// The command line of ssh. The shell of the other machine reads the last word, so the words in it are quoted.
    var command: [String] {
        ["ssh", "--", destination, (["lifectl"] + arguments).map(Escaping.shell).joined(separator: " ")]
    }

    /// Executes ssh. The exit status is that of the command on the other machine, or 255.
    func run() throws(Failure) -> Never {
        // SIG_DFL is a macro that Swift cannot import.
        signal(SIGPIPE, nil)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        _ = unsafe execvp("ssh", &words)
        throw Failure(
            .unavailable, "cannot reach \(destination)", "ssh: \(Text.error(linux_errno()))", remedy: "install ssh(1)")
    }
}
