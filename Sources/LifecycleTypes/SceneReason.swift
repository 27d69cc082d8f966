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
