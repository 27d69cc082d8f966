import ArgumentParser
import Glibc

// A reader that goes away, as in `lifectl monitor | head`, is told by EPIPE where it is written to.
signal(SIGPIPE, SIG_IGN)
StandardStream.holdMissing()

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let host = try RemoteHost(arguments: arguments) { try host.run() }
    if let line = PlainLine(arguments) {
        try line.run()
    } else {
        var command = try Lifectl.parseAsRoot(GlobalOptions.behindTheCommand(arguments))
        try command.run()
    }
} catch {
    Failure.report(error)
}
