import Systemd

/// The sources, by the words of `--source`.
public enum SourceChoice: String, CaseIterable, Sendable {
    case sway, wayland, gnome, x11, sound

    /// Connects to the source.
    @MainActor func find(on loop: EventLoop) throws(SourceLost) -> any Source {
        switch self {
        case .sway: try SwaySource.find(on: loop)
        case .wayland: try WaylandSource(on: loop)
        case .gnome: try GNOMESource(on: loop)
        case .x11: try X11Source(on: loop)
        case .sound: try SoundSource(on: loop)
        }
    }

    /// Returns the sources that may tell the windows of the session, the best first.
    ///
    /// - Parameters:
    ///   - variable: Returns the value of a variable; nil if it is empty or not set.
    ///   - isServed: Returns whether a compositor listens at a path.
    static func screens(variable: (String) -> String?, isServed: (String) -> Bool) -> [SourceChoice] {
        var choices: [SourceChoice] = []
        if variable(SwaySocket.variable) != nil { choices.append(.sway) }
        if variable("WAYLAND_DISPLAY") != nil { choices.append(.wayland) }
        let hasDisplay = variable("DISPLAY") != nil
        // Its compositor tells no window by Wayland. The extension's name on the session bus says whether it is there.
        if !choices.isEmpty || hasDisplay, variable("DBUS_SESSION_BUS_ADDRESS") ?? variable("XDG_RUNTIME_DIR") != nil {
            choices.append(.gnome)
        }
        let compositor = variable("WAYLAND_DISPLAY").map { name in
            name.hasPrefix("/") ? name : "\(variable("XDG_RUNTIME_DIR") ?? "")/\(name)"
        }
        if hasDisplay, !(compositor.map(isServed) ?? false) { choices.append(.x11) }
        return choices
    }
}
