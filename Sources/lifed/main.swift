import CommandLineTable
import Glibc

// Without it Swift has no arguments, and a check of the configuration would start the daemon.
guard !CommandLine.arguments.isEmpty else {
    exit("cannot read the command line: /proc is not mounted; mount it", status: EXIT_FAILURE)
}
do throws(UsageError) {
    let words = Array(CommandLine.arguments.dropFirst())
    show(try CommandLineParser.parse(words, of: .lifed).perform())
} catch {
    exit("cannot read the command line: \(error.message)", status: EX_USAGE)
}
