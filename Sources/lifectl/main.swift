import CommandLineTable
import ControlAPI
import Glibc

// A write to a closed pipe, as in `lifectl monitor | head`, fails with EPIPE.
signal(SIGPIPE, SIG_IGN)
StandardStream.openMissing()

let words = Array(CommandLine.arguments.dropFirst())
do {
    if let host = try RemoteHost(arguments: words) { try host.run() }
    let arguments = try CommandLineParser.parse(words, of: .lifectl)
    if arguments.has(.version) {
        try StandardStream.output.write(Version.current + "\n")
    } else {
        try arguments.perform(write: StandardStream.output.write)
    }
} catch {
    // A command line that cannot be read may ask for JSON all the same.
    Failure.report(error, isJSON: words.prefix { $0 != "--" }.contains("--json"))
}
