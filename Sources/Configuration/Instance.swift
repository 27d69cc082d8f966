/// Whose daemon it is that reads the configuration.
public enum Instance: Sendable {
    /// The machine's own, which may start apps as any user.
    case system

    /// A person's own.
    case user
}
