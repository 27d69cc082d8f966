/// Parameters that list the names they know.
///
/// A call with any other name is refused: a misspelt optional parameter would otherwise have no effect, silently.
public protocol NamedFields {
    /// The names as they stand in the interface description.
    static var fieldNames: [String] { get }
}
