import Glibc

/// A program that runs for as long as it is listened to, and writes lines.
final class LineProgram {
    private var process: ChildProcess
    private let name: String

    init(_ command: [String], doing action: String) throws(Failure) {
        name = command[0]
        do throws(ChildProcess.CannotStart) {
            process = try ChildProcess(command)
        } catch {
            throw Failure(status: .unavailable, message: "\(action): \(command[0]): \(Text.error(error.errno))")
        }
    }

    /// One that waits for somebody does not notice that nobody listens to it any more.
    deinit { process.end() }

    var descriptor: CInt { process.descriptor }

    /// Whether there is something that was not read.
    var hasMore: Bool { process.hasLine || FollowClock.isReadable(descriptor) }

    func nextLine() -> String? { process.nextLine().map { String(decoding: $0, as: UTF8.self) } }

    /// The last of the lines that have come, once one has; nil when no more will come.
    func newestLine() -> String? {
        var line = nextLine()
        while line != nil, process.hasLine { line = nextLine() }
        return line
    }

    /// Waits for the program to end, and returns what it had to say.
    var complaint: String {
        let (status, complaints) = process.finish()
        return complaints.last ?? "\(name) ended with status \(status)"
    }
}

/// lifectl itself.
enum Program {
    /// The directory that it lies in.
    static var directory: String? {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return nil }
        defer { unsafe free(path) }
        guard let text = unsafe String(validatingCString: path), let slash = text.lastIndex(of: "/") else { return nil }
        return String(text[..<slash])
    }
}
