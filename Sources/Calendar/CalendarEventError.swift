/// What is wrong with the text of a calendar event, and where.
public struct CalendarEventError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The byte of the text, counted from 1; one more than there are for its end.
    public let position: Int

    /// What was expected, as one clause.
    public let message: String

    /// `expected an hour from 0 to 23 at character 5`.
    public var description: String { "\(message) at character \(position)" }
}
