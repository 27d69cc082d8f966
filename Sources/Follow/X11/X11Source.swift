import CXCB
import Glibc
import WindowLines

/// An X server with a window manager, as far as the Extended Window Manager Hints 1.5 tell.
final class X11Source: WindowSource {
    private let connection: X11Connection
    private let root: xcb_window_t
    private let atoms: X11Atoms
    /// A Boolean value that indicates whether the server has the processes of its clients from the kernel.
    private let attestsProcesses: Bool

    /// Connects to the server at DISPLAY.
    init() throws(SourceEnd) {
        let connection = try X11Connection()
        self.connection = connection
        root = connection.root
        atoms = X11Atoms(connection)
        attestsProcesses = connection.hasClientIDs
        connection.selectEvents(XCB_EVENT_MASK_PROPERTY_CHANGE, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, of: root)
    }

    var descriptor: CInt { connection.descriptor }

    /// The library waits for the server itself, which takes requests at once or has gone.
    var hasUnsent: Bool { false }

    func handleEvents() throws(SourceEnd) -> Bool {
        connection.flush()
        var hasNews = false
        while let event = unsafe connection.nextEvent() {
            hasNews = unsafe isNews(event) || hasNews
            unsafe free(event)
        }
        try connection.check()
        return hasNews
    }

    /// Titles change all the time and are no news.
    private func isNews(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> Bool {
        switch unsafe CInt(event.pointee.response_type & 0x7f) {
        case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_DESTROY_NOTIFY, XCB_REPARENT_NOTIFY: return true
        case XCB_PROPERTY_NOTIFY:
            let atom = unsafe UnsafeRawPointer(event).load(as: xcb_property_notify_event_t.self).atom
            return [atoms.activeWindow, atoms.clientList, atoms.supported, atoms.state].contains(atom)
        default: return false
        }
    }

    func currentLine() throws(SourceEnd) -> WindowLine? {
        let focus = focusedWindow()
        var windows = connection.words(of: root, atoms.clientList, limit: WindowLine.windowLimit)
        if let focus, focus != 0, !windows.contains(focus) { windows.append(focus) }
        // All requests are sent before the first reply is read.
        let questions = windows.map { WindowQuestion($0, root: root, connection, atoms, attests: attestsProcesses) }
        let line = WindowLine(
            focus: focus.map { $0 == 0 ? .nothing : .window(Int64($0)) } ?? .unknown,
            windows: questions.map { $0.answer(connection, atoms) })
        // A server that has gone answers nothing, and that is no news of its windows.
        try connection.check()
        return line
    }

    /// Returns the window with the focus, 0 for none; nil if no window manager tells.
    private func focusedWindow() -> xcb_window_t? {
        if let window = connection.words(of: root, atoms.activeWindow, limit: 1).first { return window }
        let supported = connection.words(of: root, atoms.supported, limit: WindowLine.windowLimit)
        return supported.contains(atoms.activeWindow) ? 0 : nil
    }
}

/// The requests about one window.
private struct WindowQuestion {
    private let window: xcb_window_t
    private let attributes: xcb_get_window_attributes_cookie_t
    private let state: X11Connection.PropertyCookie
    private let name: X11Connection.PropertyCookie
    private let oldName: X11Connection.PropertyCookie
    private let windowClass: X11Connection.PropertyCookie
    private let claim: X11Connection.PropertyCookie
    /// Nil if the server does not know the processes of its clients.
    private let client: xcb_res_query_client_ids_cookie_t?

    /// Sends the requests.
    init(
        _ window: xcb_window_t, root: xcb_window_t, _ connection: X11Connection, _ atoms: X11Atoms, attests: Bool
    ) {
        self.window = window
        if window != root {
            connection.selectEvents(XCB_EVENT_MASK_STRUCTURE_NOTIFY, XCB_EVENT_MASK_PROPERTY_CHANGE, of: window)
        }
        attributes = connection.askAttributes(of: window)
        state = connection.ask(window, atoms.state, limit: 64)
        name = connection.ask(window, atoms.name, limit: WindowLine.textLimit / 4)
        oldName = connection.ask(window, XCB_ATOM_WM_NAME.rawValue, limit: WindowLine.textLimit / 4)
        windowClass = connection.ask(window, XCB_ATOM_WM_CLASS.rawValue, limit: WindowLine.textLimit / 4)
        claim = connection.ask(window, atoms.process, limit: 1)
        client = attests ? connection.askClient(of: window) : nil
    }

    /// Reads the replies.
    func answer(_ connection: X11Connection, _ atoms: X11Atoms) -> WindowLine.Window {
        let isViewable = connection.isViewable(attributes)
        let isHidden = connection.words(in: state).contains(atoms.hidden)
        let names = [connection.bytes(in: name), connection.bytes(in: oldName)]
        let claimed = connection.words(in: claim).first
        let process = client.map { connection.process(in: $0) } ?? claimed
        return WindowLine.Window(
            number: Int64(window), process: process.map { Int64($0) }, isAttested: client != nil,
            appID: Self.appID(connection.bytes(in: windowClass)),
            visibility: isHidden ? .minimized : isViewable ? .visible : .hidden,
            title: String(decoding: names.first { !$0.isEmpty } ?? [], as: UTF8.self))
    }

    /// Returns the class in `WM_CLASS`, which has the instance before it, each with a zero after it.
    private static func appID(_ bytes: [UInt8]) -> String {
        let names = bytes.split(separator: 0, omittingEmptySubsequences: false)
        return String(decoding: names.dropFirst().first ?? [], as: UTF8.self)
    }
}
