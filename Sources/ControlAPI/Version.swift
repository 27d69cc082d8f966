/// The version of this package: daemon, client and libraries have the same.
public enum Version {
    /// The version as three numbers with dots.
    public static let current = "0.1.0"
}
