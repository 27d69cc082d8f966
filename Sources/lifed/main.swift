import CommandLineTable
import Glibc

do throws(UsageError) {
    let words = Array(CommandLine.arguments.dropFirst())
    show(try CommandLineParser.parse(words, of: .lifed).perform())
} catch {
    exit("cannot read the command line: \(error.message)", status: EX_USAGE)
}
