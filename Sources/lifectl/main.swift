import Glibc

// A write to a closed pipe, as in `lifectl monitor | head`, fails with EPIPE.
signal(SIGPIPE, SIG_IGN)
StandardStream.openMissing()

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if let host = try RemoteHost(arguments: words) { try host.run() }
    let arguments = try CommandLineParser.parse(words)
    try arguments.verb.run(arguments)
} catch {
    Failure.report(error)
}
