import CommandLineTable
import Glibc

// A write to a closed pipe, as in `lifectl monitor | head`, fails with EPIPE.
signal(SIGPIPE, SIG_IGN)
StandardStream.openMissing()

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if let host = try RemoteHost(arguments: words) { try host.run() }
    try CommandLineParser.parse(words, of: .lifectl).perform(write: StandardStream.output.write)
} catch {
    Failure.report(error)
}
