/// The name of an app: the `id` of its manifest, or the one an ad-hoc app was given.
public struct AppID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name as people write it, for example `org.example.Clock`.
    public let name: String

    /// Of the name: an id is looked up some fifty times for an input, and its name never changes.
    private let hash: Int

    /// Makes an id from a name that was checked before; the core compares ids and looks no further.
    public init(_ name: String) {
        self.name = name
        hash = name.hashValue
    }

    /// Whether the names are the same.
    public static func == (left: AppID, right: AppID) -> Bool { left.hash == right.hash && left.name == right.name }

    /// Feeds what the name amounts to.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The name.
    public var description: String { name }

    /// The order of the names.
    public static func < (left: AppID, right: AppID) -> Bool { left.name < right.name }
}
