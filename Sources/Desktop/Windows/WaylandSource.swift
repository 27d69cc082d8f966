import Systemd

/// A protocol by which a compositor tells its windows.
@MainActor protocol WindowProtocol: AnyObject {
    /// The windows that the compositor has told completely.
    var windows: [ScreenWindow] { get }

    /// Handles an output that appears, or an interface that is offered late.
    func handle(_ global: WaylandGlobal)

    /// Handles the end of an offer.
    func handleEnd(of name: UInt32)
}

/// A Wayland compositor that tells its windows: KWin, or one with wlroots' protocol.
final class WaylandSource: Source {
    private enum Phase {
        /// The compositor has not told all that it offers.
        case listing([WaylandGlobal])
        /// The compositor has not told all windows.
        case beginning(any WindowProtocol)
        case following(any WindowProtocol)
        /// The compositor has none of the protocols.
        case unable
    }

    private let connection: WaylandConnection
    private var phase = Phase.listing([])
    private var last: Observation?

    let name = "the Wayland compositor"

    init(on loop: EventLoop) throws(SourceLost) {
        connection = try WaylandConnection(on: loop)
        connection.listGlobals(
            appeared: { [unowned self] in appear($0) }, disappeared: { [unowned self] in disappear($0) })
        connection.synchronize { [unowned self] in begin() }
    }

    func read() throws(SourceLost) -> Observation? {
        try connection.handleEvents()
        switch phase {
        case .listing, .beginning: return nil
        case .following(let windows):
            let new = Screen(windows.windows).observation
            defer { last = new }
            return new == last ? nil : new
        case .unable:
            throw SourceLost(
                reason: "the compositor offers neither \(ForeignToplevels.interface) nor \(PlasmaWindows.interface)",
                remedy: "name another source, or report the windows by SetInUse")
        }
    }

    // MARK: Offers

    private func appear(_ global: WaylandGlobal) {
        switch phase {
        case .listing(let globals): phase = .listing(globals + [global])
        case .beginning(let windows), .following(let windows): windows.handle(global)
        case .unable: break
        }
    }

    private func disappear(_ name: UInt32) {
        switch phase {
        case .listing(let globals): phase = .listing(globals.filter { $0.name != name })
        case .beginning(let windows), .following(let windows): windows.handleEnd(of: name)
        case .unable: break
        }
    }

    /// Chooses a protocol. KWin's has the processes.
    private func begin() {
        guard case .listing(let globals) = phase else { return }
        func offer(_ interface: String) -> WaylandGlobal? { globals.first { $0.interface == interface } }
        let windows: any WindowProtocol
        if let offer = offer(PlasmaWindows.interface) {
            windows = PlasmaWindows(offer, globals, connection)
        } else if let offer = offer(ForeignToplevels.interface) {
            windows = ForeignToplevels(offer, globals, connection)
        } else {
            phase = .unable
            return
        }
        phase = .beginning(windows)
        // KWin names the windows first, and tells of each on request.
        connection.synchronize { [unowned self] in
            connection.synchronize { [unowned self] in phase = .following(windows) }
        }
    }
}
