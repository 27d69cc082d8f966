/// How short memory is.
public enum MemoryLevel: String, Sendable, CaseIterable {
    /// Nothing needs to be done.
    case normal
    /// The apps should give up what they can do without.
    case warning
    /// Apps have to go.
    case critical
}
