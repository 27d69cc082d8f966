import CWayland

/// The windows of a compositor with `zwlr_foreign_toplevel_manager_v1`, versions 1 to 3: sway, labwc, wayfire, Hyprland, niri,
/// phoc.
///
/// The protocol tells the app id, and no process; the outputs, and no workspace.
final class ForeignToplevels: WindowProtocol {
    static let interface = "zwlr_foreign_toplevel_manager_v1"
    private static let version: UInt32 = 3

    /// The events of a window.
    private enum Event: UInt32 {
        case title, appID, outputEnter, outputLeave, state, done, closed, parent
    }

    /// A state of a window.
    private enum State: UInt32 {
        case maximized, minimized, activated, fullscreen
    }

    /// The number of the request that ends a window's object.
    private static let destroyRequest: UInt32 = 7

    /// The number of outputs that are bound, so that a broken compositor has an end.
    private static let outputLimit = 64

    /// A window: what the compositor has told up to the last `done`, and since.
    private struct Toplevel {
        var shown: ScreenWindow?
        var pending: ScreenWindow
    }

    private let connection: WaylandConnection
    private var toplevels: [WaylandObject: Toplevel] = [:]
    /// The name of each output that is bound.
    private var outputs: [WaylandObject: UInt32] = [:]
    private var lastNumber: Int64 = 0
    private var activations = ActivationOrder()

    init(_ offer: WaylandGlobal, _ globals: [WaylandGlobal], _ connection: WaylandConnection) {
        self.connection = connection
        // The compositor tells only of the outputs that are bound.
        for global in globals { handle(global) }
        _ = unsafe connection.bind(offer, cwayland_foreign_toplevel_manager(), version: Self.version) {
            [unowned self] event, _, arguments in
            if event == 0, let object = arguments.object(0) { add(object) }
        }
    }

    /// The windows in the order of their numbers.
    var windows: [ScreenWindow] { toplevels.values.compactMap(\.shown).sorted { $0.number < $1.number } }

    func handle(_ global: WaylandGlobal) {
        guard global.interface == "wl_output", outputs.count < Self.outputLimit else { return }
        let output = unsafe connection.bind(global, cwayland_output(), version: 1) { _, _, _ in }
        if let output { outputs[output] = global.name }
    }

    func handleEnd(of name: UInt32) {
        guard let output = outputs.first(where: { $0.value == name })?.key else { return }
        for (object, var toplevel) in toplevels {
            toplevel.pending.place.remove(name)
            toplevel.shown?.place.remove(name)
            toplevels[object] = toplevel
        }
        outputs[output] = nil
        connection.forget(output)
    }

    // MARK: Windows

    private func add(_ object: WaylandObject) {
        guard toplevels.count < Observation.limit else {
            return connection.destroy(object, by: Self.destroyRequest)
        }
        lastNumber += 1
        connection.listen(to: object) { [unowned self] event, object, arguments in
            handle(event, of: object, arguments)
        }
        toplevels[object] = Toplevel(pending: ScreenWindow(number: lastNumber))
    }

    private func handle(_ event: UInt32, of object: WaylandObject, _ arguments: WaylandArguments) {
        guard var toplevel = toplevels[object], let event = Event(rawValue: event) else { return }
        switch event {
        case .title: toplevel.pending.title = arguments.text(0)
        case .appID: toplevel.pending.appID = arguments.text(0)
        case .outputEnter: if let name = output(in: arguments) { toplevel.pending.place.insert(name) }
        case .outputLeave: if let name = output(in: arguments) { toplevel.pending.place.remove(name) }
        case .state: apply(arguments.words(0), to: &toplevel.pending)
        case .parent: toplevel.pending.parent = arguments.object(0).flatMap { toplevels[$0]?.pending.number }
        case .done: toplevel.shown = toplevel.pending
        case .closed:
            toplevels[object] = nil
            connection.destroy(object, by: Self.destroyRequest)
            return
        }
        toplevels[object] = toplevel
    }

    private func output(in arguments: WaylandArguments) -> UInt32? { arguments.object(0).flatMap { outputs[$0] } }

    private func apply(_ states: [UInt32], to window: inout ScreenWindow) {
        let states = Set(states.compactMap(State.init))
        window.isMaximized = states.contains(.maximized)
        window.isMinimized = states.contains(.minimized)
        window.isFullscreen = states.contains(.fullscreen)
        activations.setActivated(states.contains(.activated), of: &window)
    }
}

extension ScreenWindow.Area {
    fileprivate mutating func insert(_ output: UInt32) { change { $0.insert(output) } }

    fileprivate mutating func remove(_ output: UInt32) { change { $0.remove(output) } }

    private mutating func change(_ change: (inout Set<UInt32>) -> Void) {
        guard case .outputs(var outputs) = self else { return }
        change(&outputs)
        self = .outputs(outputs)
    }
}
