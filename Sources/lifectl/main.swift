import ArgumentParser
import Glibc

// A write to a closed pipe, as in `lifectl monitor | head`, fails with EPIPE.
signal(SIGPIPE, SIG_IGN)
StandardStream.openMissing()

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let host = try RemoteHost(arguments: arguments) { try host.run() }
    if let line = PlainLine(arguments) {
        try line.run()
    } else {
        var command = try Lifectl.parseAsRoot(GlobalOptions.movedBehindCommand(arguments))
        try command.run()
    }
} catch {
    Failure.report(error)
}
