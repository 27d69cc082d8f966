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

/// A connection to an X server: requests, replies and events in the types of Swift.
@safe final class X11Connection {
    typealias PropertyCookie = xcb_get_property_cookie_t

    private let connection: OpaquePointer
    /// The root window of the screen that DISPLAY names.
    let root: xcb_window_t

    init() throws(SourceEnd) {
        var number: CInt = 0
        guard let connection = unsafe xcb_connect(nil, &number), unsafe xcb_connection_has_error(connection) == 0 else {
            let display = unsafe getenv("DISPLAY").map { unsafe String(cString: $0) } ?? ""
            throw SourceEnd(
                reason: display.isEmpty
                    ? "DISPLAY is not set" : "the X server at DISPLAY=\(display) does not answer")
        }
        unsafe self.connection = connection
        var screens = unsafe xcb_setup_roots_iterator(xcb_get_setup(connection))
        while number > 0, unsafe screens.rem > 1 {
            unsafe xcb_screen_next(&screens)
            number -= 1
        }
        guard let screen = unsafe screens.data else { throw SourceEnd(reason: "the X server has no screen") }
        root = unsafe screen.pointee.root
    }

    var descriptor: CInt { unsafe xcb_get_file_descriptor(connection) }

    func flush() { _ = unsafe xcb_flush(connection) }

    /// Fails if the connection has ended.
    func check() throws(SourceEnd) {
        if unsafe xcb_connection_has_error(connection) != 0 {
            throw SourceEnd(reason: "the X server has closed the connection")
        }
    }

    /// Returns an event that has come, without waiting; the caller frees it.
    func nextEvent() -> UnsafeMutablePointer<xcb_generic_event_t>? { unsafe xcb_poll_for_event(connection) }

    func selectEvents(_ first: xcb_event_mask_t, _ second: xcb_event_mask_t, of window: xcb_window_t) {
        var mask = first.rawValue | second.rawValue
        _ = unsafe xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK.rawValue, &mask)
    }

    /// Returns the atoms of names; 0 for an atom that the server does not tell.
    func atoms(_ names: [String]) -> [xcb_atom_t] {
        let cookies = names.map { name in
            unsafe xcb_intern_atom(connection, 0, UInt16(name.utf8.count), name)
        }
        return cookies.map { cookie in
            guard let reply = unsafe xcb_intern_atom_reply(connection, cookie, nil) else { return 0 }
            defer { unsafe free(reply) }
            return unsafe reply.pointee.atom
        }
    }

    // MARK: Properties

    /// Requests a property of any type.
    ///
    /// - Parameter limit: The largest part that is read, in units of four bytes.
    func ask(_ window: xcb_window_t, _ property: xcb_atom_t, limit: Int) -> PropertyCookie {
        unsafe xcb_get_property(connection, 0, window, property, XCB_GET_PROPERTY_TYPE_ANY.rawValue, 0, UInt32(limit))
    }

    /// Returns the bytes of a property; none if it is not made of bytes.
    func bytes(in cookie: PropertyCookie) -> [UInt8] {
        unsafe value(in: cookie, format: 8) { unsafe Array($0) }
    }

    /// Returns the numbers of a property; none if it is not made of numbers.
    func words(in cookie: PropertyCookie) -> [UInt32] {
        unsafe value(in: cookie, format: 32) { bytes in
            (0..<bytes.count / 4).map { unsafe bytes.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self) }
        }
    }

    func words(of window: xcb_window_t, _ property: xcb_atom_t, limit: Int) -> [UInt32] {
        words(in: ask(window, property, limit: limit))
    }

    private func value<Element>(
        in cookie: PropertyCookie, format: UInt8, _ read: (UnsafeRawBufferPointer) -> [Element]
    ) -> [Element] {
        guard let reply = unsafe xcb_get_property_reply(connection, cookie, nil) else { return [] }
        defer { unsafe free(reply) }
        guard unsafe reply.pointee.format == format else { return [] }
        let length = unsafe Int(xcb_get_property_value_length(reply))
        return unsafe read(UnsafeRawBufferPointer(start: xcb_get_property_value(reply), count: length))
    }

    // MARK: Windows

    func askAttributes(of window: xcb_window_t) -> xcb_get_window_attributes_cookie_t {
        unsafe xcb_get_window_attributes(connection, window)
    }

    /// Returns whether the window and all that it is in are mapped.
    func isViewable(_ cookie: xcb_get_window_attributes_cookie_t) -> Bool {
        guard let reply = unsafe xcb_get_window_attributes_reply(connection, cookie, nil) else { return false }
        defer { unsafe free(reply) }
        return unsafe UInt32(reply.pointee.map_state) == XCB_MAP_STATE_VIEWABLE.rawValue
    }

    /// A Boolean value that indicates whether the server tells the processes of its clients, as the kernel has told them to it:
    /// the X-Resource extension 1.2.
    var hasClientIDs: Bool {
        guard let extensionData = unsafe cxcb_resource_extension(connection), unsafe extensionData.pointee.present != 0
        else { return false }
        let cookie = unsafe xcb_res_query_version(connection, 1, 2)
        guard let reply = unsafe xcb_res_query_version_reply(connection, cookie, nil) else { return false }
        defer { unsafe free(reply) }
        return unsafe (reply.pointee.server_major, reply.pointee.server_minor) >= (1, 2)
    }

    func askClient(of window: xcb_window_t) -> xcb_res_query_client_ids_cookie_t {
        var spec = xcb_res_client_id_spec_t(client: window, mask: XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue)
        return unsafe xcb_res_query_client_ids(connection, 1, &spec)
    }

    /// Returns the process of a client on this machine.
    func process(in cookie: xcb_res_query_client_ids_cookie_t) -> UInt32? {
        guard let reply = unsafe xcb_res_query_client_ids_reply(connection, cookie, nil) else { return nil }
        defer { unsafe free(reply) }
        var values = unsafe xcb_res_query_client_ids_ids_iterator(reply)
        var process: UInt32?
        while unsafe values.rem > 0 {
            let isProcess =
                unsafe values.data.pointee.spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue != 0
            if isProcess, unsafe xcb_res_client_id_value_value_length(values.data) > 0 {
                process = unsafe xcb_res_client_id_value_value(values.data).pointee
            }
            unsafe xcb_res_client_id_value_next(&values)
        }
        return process
    }
}

/// The properties and states that are read, by the numbers that the server has given them.
struct X11Atoms {
    let activeWindow: xcb_atom_t
    let clientList: xcb_atom_t
    let supported: xcb_atom_t
    let state: xcb_atom_t
    let hidden: xcb_atom_t
    let process: xcb_atom_t
    let name: xcb_atom_t

    init(_ connection: X11Connection) {
        let atoms = connection.atoms([
            "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST", "_NET_SUPPORTED", "_NET_WM_STATE", "_NET_WM_STATE_HIDDEN",
            "_NET_WM_PID", "_NET_WM_NAME",
        ])
        (activeWindow, clientList, supported) = (atoms[0], atoms[1], atoms[2])
        (state, hidden, process, name) = (atoms[3], atoms[4], atoms[5], atoms[6])
    }
}
