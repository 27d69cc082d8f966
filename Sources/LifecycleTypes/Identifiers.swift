/// The name of an app: the `id` of its manifest, or the one that an app without a manifest was given.
public struct AppID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name, for example `org.example.Clock`.
    public let name: String

    /// The hash of the name, which never changes while the process lives and is needed for each look-up.
    public let hash: Int

    /// Creates an id from a valid name. The core compares ids and does not check them.
    public init(_ name: String) {
        self.name = name
        hash = name.hashValue
    }

    /// Compares the hashes before the names.
    ///
    /// - Parameters:
    ///   - left: An id.
    ///   - right: The id to compare with.
    /// - Returns: True if the names are the same.
    public static func == (left: AppID, right: AppID) -> Bool { left.hash == right.hash && left.name == right.name }

    /// Feeds the stored hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The name.
    public var description: String { name }

    /// Orders ids by name.
    ///
    /// - Parameters:
    ///   - left: An id.
    ///   - right: The id to compare with.
    /// - Returns: True if the left name comes first.
    public static func < (left: AppID, right: AppID) -> Bool { left.name < right.name }
}

/// The name of a scene, unique within its app.
public struct SceneID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// 1…64 characters of A-Z, a-z, 0-9, `.`, `_` and `-`.
    public let name: String

    /// Creates the id of this name; nil if the name is not valid.
    public init?(_ name: String) {
        guard Self.isWord(name) else { return nil }
        self.name = name
    }

    /// Creates the id of a scene without a name of its own: `main`, `scene-2`, `scene-3`…
    public init(ordinal: Int) { name = ordinal == 1 ? "main" : "scene-\(ordinal)" }

    /// The name.
    public var description: String { name }

    /// Orders ids by name.
    ///
    /// - Parameters:
    ///   - left: An id.
    ///   - right: The id to compare with.
    /// - Returns: True if the left name comes first.
    public static func < (left: SceneID, right: SceneID) -> Bool { left.name < right.name }

    /// Returns whether the text is valid as the name or the role of a scene.
    public static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
