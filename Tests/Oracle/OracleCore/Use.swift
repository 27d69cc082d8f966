/// Which uses keep an app awake out of sight. Whether an app is used so is the word of those who look; what follows from
/// it is decided here.
public struct KeptUses: Sendable, Equatable {
    /// Which apps that play stay awake.
    public enum Playing: String, Sendable {
        /// Those whose policy has the background mode audio.
        case declared
        /// Every one.
        case keep
        /// None.
        case ignore
    }

    /// Whether apps on the screen stay awake.
    public var visible = true
    /// Which apps that play stay awake.
    public var playing = Playing.declared

    /// The defaults: what is on the screen, and what plays and may.
    public init() {}

    /// The background mode that allows an app to play out of sight.
    public static let playingMode = "audio"

    /// Whether the use keeps an app with this policy awake.
    public func keep(_ use: Use, _ policy: Policy) -> Bool {
        switch use {
        case .visible: visible
        case .playing:
            playing == .keep || playing == .declared && policy.backgroundModes.contains(Self.playingMode)
        }
    }
}
