import ControlAPI
import LifecycleTypes

/// The first of several sources that tells anything.
final class FirstSource: Source {
    private var candidates: Candidates
    private var current: any Source
    private var isHeard = false

    /// The sources that were not tried, and the ends of the others.
    private struct Candidates {
        let environment: [String: String]
        var kinds: ArraySlice<Follow.SourceKind>
        var losses: [SourceLost] = []

        /// Returns the next source that can be found; nil if there is none.
        mutating func next() -> (any Source)? {
            while let kind = kinds.popFirst() {
                do throws(Failure) {
                    return try kind.find(environment)
                } catch {
                    losses.append(SourceLost(reason: error.reason, remedy: error.remedy))
                }
            }
            return nil
        }

        /// The reasons of all ends. Several sources may need the same program.
        var reason: String {
            var reasons: [String] = []
            for loss in losses where !reasons.contains(loss.reason) { reasons.append(loss.reason) }
            return reasons.joined(separator: ", and ")
        }
    }

    init(_ kinds: [Follow.SourceKind], environment: [String: String]) throws(Failure) {
        var candidates = Candidates(environment: environment, kinds: kinds[...])
        guard let first = candidates.next() else {
            throw Failure(
                .unavailable, "cannot follow the windows", candidates.reason,
                remedy: candidates.losses.first?.remedy ?? "")
        }
        (self.candidates, current) = (candidates, first)
    }

    var name: String { current.name }
    var descriptor: CInt { current.descriptor }
    var isReady: Bool { current.isReady }

    /// Reads from the present source. A source that ends without an observation is followed by the next one.
    func read() throws(SourceLost) -> Observation? {
        do throws(SourceLost) {
            let observation = try current.read()
            isHeard = isHeard || observation != nil
            return observation
        } catch {
            guard !isHeard else { throw error }
            candidates.losses.append(error)
            guard let next = candidates.next() else {
                throw SourceLost(reason: candidates.reason, remedy: error.remedy)
            }
            current = next
            return nil
        }
    }
}

/// The choice of the source of windows by the environment.
enum WindowSources {
    /// Returns the sources that may tell the windows of this session, the best first.
    ///
    /// The X server beside a Wayland compositor is its Xwayland, which knows a part of the windows, and says that no window has
    /// the focus when one of Wayland's has it.
    ///
    /// - Parameter isServed: Returns whether a compositor listens at a path.
    static func candidates(environment: [String: String], isServed: (String) -> Bool) -> [Follow.SourceKind] {
        func isSet(_ name: String) -> Bool { !environment[name, default: ""].isEmpty }
        var kinds: [Follow.SourceKind] = []
        if isSet(SwaySocket.variable) { kinds.append(.sway) }
        if isSet("WAYLAND_DISPLAY") { kinds.append(.wayland) }
        // Its compositor tells no window by Wayland. The extension's name on the session bus says whether it is there.
        if !kinds.isEmpty || isSet("DISPLAY"), isSet("DBUS_SESSION_BUS_ADDRESS") || isSet("XDG_RUNTIME_DIR") {
            kinds.append(.gnome)
        }
        let isWayland = WaylandSocket.path(environment: environment).map(isServed) ?? false
        if isSet("DISPLAY"), !isWayland { kinds.append(.x11) }
        return kinds
    }

    static func find(environment: [String: String]) throws(Failure) -> any Source {
        let kinds = candidates(environment: environment, isServed: WaylandSocket.isServed)
        guard !kinds.isEmpty else {
            throw Failure(
                .unavailable, "cannot follow the windows", "none of SWAYSOCK, WAYLAND_DISPLAY and DISPLAY is set",
                remedy: "run 'systemctl --user import-environment' with them in the session, or name a source")
        }
        return try FirstSource(kinds, environment: environment)
    }
}

/// The socket of a Wayland compositor.
enum WaylandSocket {
    /// Returns the path that the environment names; nil if it names none.
    static func path(environment: [String: String]) -> String? {
        guard let name = environment["WAYLAND_DISPLAY"], !name.isEmpty else { return nil }
        if name.hasPrefix("/") { return name }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else { return nil }
        return "\(directory)/\(name)"
    }

    static func isServed(_ path: String) -> Bool { (try? LocalSocket(path: path)) != nil }
}
