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

/// The state of a scene, in the terms of `UIScene.ActivationState`.
public enum SceneState: String, Sendable, CaseIterable {
    /// Not connected: before its first connection, after a disconnection, or without a process.
    case unattached
    /// In the foreground, without events.
    case foregroundInactive
    /// In the foreground and in use.
    case foregroundActive
    /// In the background of a process that runs.
    case background
    /// In the background of a process that is stopped.
    case suspended

    /// A Boolean value that indicates whether the state is one of the foreground.
    public var isForeground: Bool { self == .foregroundInactive || self == .foregroundActive }

    /// A Boolean value that indicates whether the scene is connected and not in the foreground.
    public var isConnectedInBackground: Bool { self == .background || self == .suspended }
}

/// The reason of a scene's connection or disconnection: a word of the app protocol.
public enum SceneReason: String, CaseIterable, Sendable {
    /// A user opened the scene.
    case user
    /// The system needs the scene, usually in the background.
    case system
    /// The app requested the scene.
    case app
    /// The scene existed before, and is to be restored.
    case restoration

    /// The scene does not come back.
    case closed
    /// The scene was disconnected for the memory that it uses.
    case reclaimed
    /// The app ends.
    case terminating
}

/// The limits and defaults of the texts about scenes.
public enum SceneText {
    /// The role of a scene that was given none.
    public static let defaultRole = "window"
    /// The most bytes of UTF-8 in the info of a scene. A line of the app protocol has room for them however they are encoded.
    public static let infoLimit = 4096
}
