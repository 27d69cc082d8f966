import CommandLineTable
import ControlAPI
import Glibc

// A write to a closed pipe, as in `lifectl monitor | head`, fails with EPIPE.
signal(SIGPIPE, SIG_IGN)
// A parent may leave SIGCHLD ignored. Then the kernel reports no end of a child, and keeps no status (sigaction(2)).
signal(SIGCHLD, nil)
StandardStream.openMissing()

let words = Environment.arguments
do throws(Failure) {
    if let host = try RemoteHost(arguments: words) { try host.run() }
    try perform(words)
} catch {
    // A command line that cannot be read may ask for JSON all the same.
    error.report(isJSON: words.prefix { $0 != "--" }.contains("--json"))
}

/// Reads the command line, and does what it says.
func perform(_ words: [String]) throws(Failure) {
    var printed = ""
    // Before the parser reads them: a word whose bytes were replaced is another word.
    try Failure.requireText(in: words)
    do throws(UsageError) {
        let arguments = try CommandLineParser.parse(words, of: .lifectl)
        printed = arguments.has(.version) ? Version.current + "\n" : try arguments.perform()
    } catch {
        throw Failure(error)
    }
    if !printed.isEmpty { try StandardStream.output.write(printed) }
}
