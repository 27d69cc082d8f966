import LifecycleTypes

/// A mistake in a configuration file, or a missing file that it names.
///
/// A problem is news for a user, never a reason to stop: the key or file that it concerns was left out, and the rest
/// counts.
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file or directory concerned.
    public let file: String

    /// The line concerned, counted from 1; nil if the problem is that of the whole file.
    public let line: Int?

    /// The key, the value that was found and the expectation, in one line without control characters.
    public let message: String

    /// Describes a problem.
    ///
    /// - Parameters:
    ///   - file: The file or directory.
    ///   - line: The line, counted from 1; nil if the problem is that of the whole file.
    ///   - message: The problem, in one line without control characters.
    public init(file: String, line: Int? = nil, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// `file:line: message`, the form that compilers use and editors jump to.
    public var description: String {
        guard let line else { return "\(file): \(message)" }
        return "\(file):\(line): \(message)"
    }
}

/// The reason why a text cannot be used, or not be read. Its reader knows the file.
public struct Defect: Error, Equatable {
    /// The line concerned, counted from 1; nil if the defect is that of the whole text.
    let line: Int?

    /// One line, without control characters.
    public let message: String

    /// The error of the system call that failed; nil if none did.
    let error: Int32?

    init(line: Int? = nil, message: String, error: Int32? = nil) {
        self.line = line
        self.message = message
        self.error = error
    }

    /// Creates the defect of a file that is not used.
    ///
    /// - Parameter remedy: The remedy; nil if the reader goes on without the file.
    init(line: Int? = nil, cannot action: String, _ cause: String, remedy: String? = nil) {
        self.init(line: line, message: "cannot \(action): \(cause); \(remedy ?? "ignoring it")")
    }

    /// Creates the defect of a file for which a system call failed.
    init(cannot action: String, error: Int32, remedy: String = "ignoring it") {
        self.init(message: "cannot \(action): \(ErrnoText.text(error)); \(remedy)", error: error)
    }
}

extension Problem {
    init(_ defect: Defect, of file: String) { self.init(file: file, line: defect.line, message: defect.message) }
}

/// Problems as they are found, up to a limit: a daemon must not hold more of them than a user reads.
struct ProblemList {
    static let limit = 1000

    private(set) var problems: [Problem] = []
    private var omitted = 0

    mutating func add(_ problem: Problem) {
        add([problem])
    }

    mutating func add(_ found: [Problem]) {
        let room = Self.limit - problems.count
        problems += found.prefix(room)
        omitted += found.dropFirst(room).count
    }

    /// Returns every problem that was kept and, last, how many were not.
    func summary(for directory: String) -> [Problem] {
        omitted == 0 ? problems : problems + [Self.notice(of: omitted, in: directory)]
    }

    static func notice(of count: Int, in file: String) -> Problem {
        Problem(
            file: file,
            message: "\(count) more problem\(count == 1 ? " is" : "s are") not shown; correct the others first")
    }
}

/// A guess at the known word that an unknown one stands for.
enum Suggestion {
    /// Returns the end of a message about an unknown word: the known word that it may stand for, or another remedy.
    static func hint(_ known: String?, otherwise remedy: @autoclosure () -> String) -> String {
        "; \(known.map { "did you mean \($0.quoted)?" } ?? remedy())"
    }

    /// Returns the candidate nearest to `word`, if one is near enough to be worth naming.
    static func forUnknown(_ word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        // `foreground_limit`, `foreground-limit` and `ForegroundLimit` are all one mistake.
        return Spelling.nearest(to: word, among: candidates) { word in
            Array(word.lowercased().filter { $0 != "_" && $0 != "-" })
        }
    }

    /// Returns the right key in the wrong table: the candidate whose last part is that of `word`.
    static func forMisplaced(_ word: String, among candidates: [String]) -> String? {
        let last = lastPart(of: word)
        return candidates.first { lastPart(of: $0) == last }
    }

    private static func lastPart(of key: String) -> Substring {
        key.split(separator: ".").last ?? ""
    }
}
