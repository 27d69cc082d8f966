/// A mistake in a file that people write, or something that the file names and that is missing.
///
/// A problem is news for a person, never a reason to stop: whatever it concerns was left out, and the rest counts.
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file or directory concerned.
    public let file: String

    /// The line concerned, counted from 1; nil if the problem is that of the whole file.
    public let line: Int?

    /// Which key it is, what was found and what was expected, in one line without control characters.
    public let message: String

    /// Describes a problem.
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
