import Glibc

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
