import CWayland

/// The windows of KWin, by `org_kde_plasma_window_management`, versions 4 to 16.
///
/// The process of a Wayland client is that of its socket; but of an X11 window, KWin passes on `_NET_WM_PID`, and the two cannot be
/// told apart for sure. So every process counts as a claim.
final class PlasmaWindows: WindowProtocol {
    static let interface = "org_kde_plasma_window_management"
    private static let version: UInt32 = 16

    /// The events of the window management.
    private enum ManagementEvent: UInt32 {
        case showDesktop, window, stackingOrder, stackingOrderByUUID, windowByUUID
    }

    /// The events of a window.
    private enum Event: UInt32 {
        case title, appID, state, desktopNumber, iconName, unmapped, initialState, parent, geometry, icon, process
        case desktopEntered, desktopLeft, menu, activityEntered, activityLeft, resourceName
    }

    /// The states of a window, as a set of bits.
    private struct State: OptionSet {
        let rawValue: UInt32

        static let active = State(rawValue: 1 << 0)
        static let minimized = State(rawValue: 1 << 1)
        static let maximized = State(rawValue: 1 << 2)
        static let fullscreen = State(rawValue: 1 << 3)
        static let keptAbove = State(rawValue: 1 << 4)
        static let onAllDesktops = State(rawValue: 1 << 6)
        static let shaded = State(rawValue: 1 << 14)
    }

    /// The numbers of the requests.
    private enum Request {
        static let window: UInt32 = 1
        static let windowByUUID: UInt32 = 2
        static let destroyWindow: UInt32 = 7
    }

    private struct Window {
        var window: ScreenWindow
        var isComplete = false
        var desktops: Set<String> = []
        var isOnAllDesktops = false
    }

    private let connection: WaylandConnection
    private let desktops: PlasmaDesktops
    private var isDesktopShown = false
    private var entries: [WaylandObject: Window] = [:]
    private var lastNumber: Int64 = 0
    private var activations = ActivationOrder()

    init(_ offer: WaylandGlobal, _ globals: [WaylandGlobal], _ connection: WaylandConnection) {
        self.connection = connection
        desktops = PlasmaDesktops(connection)
        for global in globals { desktops.handle(global) }
        _ = unsafe connection.bind(offer, cwayland_plasma_window_management(), version: Self.version) {
            [unowned self] event, object, arguments in manage(event, of: object, arguments)
        }
    }

    /// The windows in the order of their numbers.
    var windows: [ScreenWindow] {
        entries.values.filter(\.isComplete).map { entry in
            var window = entry.window
            window.isHidden = window.isHidden || isDesktopShown
            // A window that is on no desktop is on all.
            window.isOnOtherWorkspace =
                !entry.isOnAllDesktops && !entry.desktops.isEmpty && !desktops.isAnyShown(of: entry.desktops)
            return window
        }.sorted { $0.number < $1.number }
    }

    func handle(_ global: WaylandGlobal) { desktops.handle(global) }

    func handleEnd(of name: UInt32) {}

    // MARK: Events

    private func manage(_ event: UInt32, of management: WaylandObject, _ arguments: WaylandArguments) {
        guard let event = ManagementEvent(rawValue: event) else { return }
        let object: WaylandObject?
        switch event {
        case .showDesktop:
            isDesktopShown = arguments.unsigned(0) != 0
            return
        case .stackingOrder, .stackingOrderByUUID: return
        case .window, .windowByUUID:
            guard entries.count < Observation.limit else { return }
            let isByUUID = event == .windowByUUID
            object = unsafe connection.create(
                cwayland_plasma_window(), by: isByUUID ? Request.windowByUUID : Request.window, of: management,
                number: arguments.unsigned(0), text: isByUUID ? arguments.text(1) : nil
            ) { [unowned self] event, object, arguments in handle(event, of: object, arguments) }
        }
        guard let object else { return }
        lastNumber += 1
        entries[object] = Window(
            window: ScreenWindow(number: lastNumber, place: .rectangle(x: 0, y: 0, width: 0, height: 0)))
    }

    private func handle(_ event: UInt32, of object: WaylandObject, _ arguments: WaylandArguments) {
        guard var entry = entries[object], let event = Event(rawValue: event) else { return }
        switch event {
        case .title: entry.window.title = arguments.text(0)
        case .appID: entry.window.appID = arguments.text(0)
        case .state: apply(State(rawValue: arguments.unsigned(0)), to: &entry)
        case .parent: entry.window.parent = arguments.object(0).flatMap { entries[$0]?.window.number }
        case .geometry:
            entry.window.place = .rectangle(
                x: Int64(arguments.signed(0)), y: Int64(arguments.signed(1)), width: Int64(arguments.unsigned(2)),
                height: Int64(arguments.unsigned(3)))
        case .process: entry.window.process = Int64(arguments.unsigned(0))
        case .desktopEntered:
            if entry.desktops.count < PlasmaDesktops.limit { entry.desktops.insert(arguments.text(0)) }
        case .desktopLeft: entry.desktops.remove(arguments.text(0))
        case .initialState: entry.isComplete = true
        case .unmapped:
            entries[object] = nil
            connection.destroy(object, by: Request.destroyWindow)
            return
        case .desktopNumber, .iconName, .icon, .menu, .activityEntered, .activityLeft, .resourceName: return
        }
        entries[object] = entry
    }

    private func apply(_ state: State, to entry: inout Window) {
        entry.window.isMinimized = state.contains(.minimized)
        entry.window.isMaximized = state.contains(.maximized)
        entry.window.isFullscreen = state.contains(.fullscreen)
        entry.window.isKeptAbove = state.contains(.keptAbove)
        entry.window.isHidden = state.contains(.shaded)
        entry.isOnAllDesktops = state.contains(.onAllDesktops)
        activations.setActivated(state.contains(.active), of: &entry.window)
    }
}

/// The virtual desktops of KWin, by `org_kde_plasma_virtual_desktop_management`.
@MainActor private final class PlasmaDesktops {
    private static let interface = "org_kde_plasma_virtual_desktop_management"

    /// The number of desktops, so that a broken compositor has an end.
    static let limit = 64

    /// The events of the management of desktops, in the order of their numbers in the protocol.
    private enum ManagementEvent: UInt32 {
        case created, removed, done, rows
    }

    /// The events of a desktop, in the order of their numbers in the protocol.
    private enum Event: UInt32 {
        case id, name, activated, deactivated, done, removed
    }

    private let connection: WaylandConnection
    private var ids: [WaylandObject: String] = [:]
    private var shown: Set<WaylandObject> = []

    init(_ connection: WaylandConnection) { self.connection = connection }

    /// Returns whether one of the desktops is shown. If the compositor tells no desktop, each is.
    func isAnyShown(of desktops: Set<String>) -> Bool {
        shown.isEmpty || shown.contains { ids[$0].map(desktops.contains) ?? false }
    }

    func handle(_ global: WaylandGlobal) {
        guard global.interface == Self.interface else { return }
        _ = unsafe connection.bind(global, cwayland_plasma_virtual_desktop_management(), version: 2) {
            [unowned self] event, management, arguments in manage(event, of: management, arguments)
        }
    }

    private func manage(_ event: UInt32, of management: WaylandObject, _ arguments: WaylandArguments) {
        guard let event = ManagementEvent(rawValue: event) else { return }
        switch event {
        case .created:
            let id = arguments.text(0)
            guard ids.count < Self.limit else { return }
            let desktop = unsafe connection.create(
                cwayland_plasma_virtual_desktop(), by: 0, of: management, text: id
            ) { [unowned self] event, desktop, _ in handle(event, of: desktop) }
            if let desktop { ids[desktop] = id }
        case .removed: ids.filter { $0.value == arguments.text(0) }.keys.forEach(remove)
        case .done, .rows: break
        }
    }

    private func handle(_ event: UInt32, of desktop: WaylandObject) {
        guard ids[desktop] != nil, let event = Event(rawValue: event) else { return }
        switch event {
        case .activated: shown.insert(desktop)
        case .deactivated: shown.remove(desktop)
        case .removed: remove(desktop)
        case .id, .name, .done: return
        }
    }

    private func remove(_ desktop: WaylandObject) {
        ids[desktop] = nil
        shown.remove(desktop)
        connection.forget(desktop)
    }
}
