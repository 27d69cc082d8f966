/// The shortage of memory.
public enum MemoryLevel: String, Sendable, CaseIterable {
    /// No app has to do anything.
    case normal
    /// Apps should release what they do not need.
    case warning
    /// Apps are reclaimed.
    case critical
}
