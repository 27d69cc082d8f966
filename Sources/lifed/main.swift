import CommandLineTable
import Glibc

do {
    let words = Array(CommandLine.arguments.dropFirst())
    try CommandLineParser.parse(words, of: .lifed).perform { print($0, terminator: "") }
} catch {
    let usage = error as? UsageError
    let message = usage.map { "cannot read the command line: \($0.message)" } ?? "\(error)"
    let line = Array(
        "lifed: \(message)\(message.utf8.contains(UInt8(ascii: ";")) || usage != nil ? "" : "; exiting")\n".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    exit(usage == nil ? EXIT_FAILURE : EX_USAGE)
}
