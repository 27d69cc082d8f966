import CXCB
import Glibc
import LifecycleTypes
import Systemd

/// An X server with a window manager, as far as the Extended Window Manager Hints 1.5 tell.
///
/// The library waits for replies, so the source asks for them only when the server has sent them.
final class X11Source: Source {
    private enum Phase {
        /// A first connection shows whether the server answers: the library would wait for it.
        case knocking(LocalSocket)
        case idle(X11Connection)
        /// The windows are asked for.
        case listing(X11Connection, WindowListQuestion)
        /// Each window is asked about.
        case asking(X11Connection, focus: xcb_window_t?, [WindowQuestion], X11Connection.Barrier)
    }

    let name = "the X server"
    private let loop: EventLoop
    private var phase: Phase
    private var hasNews = true

    /// Connects to the server at DISPLAY.
    init(on loop: EventLoop) throws(SourceLost) {
        self.loop = loop
        if let path = X11Connection.socket, let socket = try? LocalSocket(path: path, loop: loop) {
            // The byte order, version 11.0, and no authorization: a refusal is an answer, too.
            try socket.send([UInt8(ascii: "l"), 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])
            phase = .knocking(socket)
        } else {
            phase = .idle(try X11Connection(on: loop))
        }
    }

    func read() throws(SourceLost) -> Observation? {
        var newest: Observation?
        while true {
            switch phase {
            case .knocking(let socket):
                guard try !socket.read().isEmpty else { return nil }
                phase = .idle(try X11Connection(on: loop))
            case .idle(let connection):
                hasNews = try connection.takeNews() || hasNews
                guard hasNews else { return newest }
                hasNews = false
                phase = .listing(connection, WindowListQuestion(connection))
            case .listing(let connection, let question):
                hasNews = try connection.takeNews() || hasNews
                guard connection.hasPassed(question.barrier) else { return newest }
                let (focus, windows) = question.answer(connection)
                let questions = windows.map { WindowQuestion($0, connection) }
                phase = .asking(connection, focus: focus, questions, connection.askBarrier())
            case .asking(let connection, let focus, let questions, let barrier):
                hasNews = try connection.takeNews() || hasNews
                guard connection.hasPassed(barrier) else { return newest }
                newest = Self.observation(focus, questions.map { $0.answer(connection) })
                // A server that has gone answers nothing, and that is no news of its windows.
                try connection.check()
                phase = .idle(connection)
            }
        }
    }

    private static func observation(
        _ focus: xcb_window_t?, _ windows: [(item: Item, isVisible: Bool)]
    ) -> Observation {
        let focused = windows.first { $0.item.key.number == focus.map { Int64($0) } }
        return Observation(
            focus: focus == 0 ? .nothing : focused.map { .item($0.item) } ?? .unknown,
            uses: [.visible: windows.filter(\.isVisible).map(\.item)])
    }
}

/// The requests for the windows, and for the one with the focus.
@MainActor private struct WindowListQuestion {
    private let active: X11Connection.PropertyCookie
    private let supported: X11Connection.PropertyCookie
    private let clients: X11Connection.PropertyCookie
    let barrier: X11Connection.Barrier

    init(_ connection: X11Connection) {
        func ask(_ property: xcb_atom_t, limit: Int) -> X11Connection.PropertyCookie {
            connection.ask(connection.root, property, limit: limit)
        }
        active = ask(connection[.activeWindow], limit: 1)
        supported = ask(connection[.supported], limit: Observation.limit)
        clients = ask(connection[.clientList], limit: Observation.limit)
        barrier = connection.askBarrier()
    }

    /// Returns the window with the focus, 0 for none, and nil if no window manager tells; and all windows.
    func answer(_ connection: X11Connection) -> (focus: xcb_window_t?, windows: [xcb_window_t]) {
        let tellsFocus = connection.words(in: supported).contains(connection[.activeWindow])
        let focus = connection.words(in: active).first ?? (tellsFocus ? 0 : nil)
        var windows = connection.words(in: clients)
        if let focus, focus != 0, !windows.contains(focus) { windows.append(focus) }
        return (focus, windows)
    }
}

/// The requests about one window.
@MainActor private struct WindowQuestion {
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
    init(_ window: xcb_window_t, _ connection: X11Connection) {
        self.window = window
        if window != connection.root {
            connection.selectEvents(XCB_EVENT_MASK_STRUCTURE_NOTIFY, XCB_EVENT_MASK_PROPERTY_CHANGE, of: window)
        }
        attributes = connection.askAttributes(of: window)
        state = connection.ask(window, connection[.state], limit: 64)
        name = connection.ask(window, connection[.name], limit: Item.textLimit / 4)
        oldName = connection.ask(window, XCB_ATOM_WM_NAME.rawValue, limit: Item.textLimit / 4)
        windowClass = connection.ask(window, XCB_ATOM_WM_CLASS.rawValue, limit: Item.textLimit / 4)
        claim = connection.ask(window, connection[.process], limit: 1)
        client = connection.attestsProcesses ? connection.askClient(of: window) : nil
    }

    /// Reads the replies.
    func answer(_ connection: X11Connection) -> (item: Item, isVisible: Bool) {
        let isViewable = connection.isViewable(attributes)
        let isHidden = connection.words(in: state).contains(connection[.hidden])
        let names = [connection.bytes(in: name), connection.bytes(in: oldName)]
        let claimed = connection.words(in: claim).first
        let process = client.map { connection.process(in: $0) } ?? claimed
        let item = Item(
            number: Int64(window), process: process.map { Int64($0) }, isAttested: client != nil,
            appID: Self.appID(connection.bytes(in: windowClass)),
            title: String(decoding: names.first { !$0.isEmpty } ?? [], as: UTF8.self))
        return (item, isViewable && !isHidden)
    }

    /// Returns the class in `WM_CLASS`, which has the instance before it, each with a zero after it.
    private static func appID(_ bytes: [UInt8]) -> String {
        let names = bytes.split(separator: 0, omittingEmptySubsequences: false)
        return String(decoding: names.dropFirst().first ?? [], as: UTF8.self)
    }
}

/// A connection to an X server: requests, replies and events in the types of Swift.
@MainActor @safe private final class X11Connection {
    typealias PropertyCookie = xcb_get_property_cookie_t

    private let connection: OpaquePointer
    /// The root window of the screen that DISPLAY names.
    let root: xcb_window_t
    /// The server has the processes of its clients from the kernel.
    let attestsProcesses: Bool
    private let atoms: [X11Atom: xcb_atom_t]
    private let wake: IOSource

    /// The path of the server's socket on this machine; nil if DISPLAY names none.
    static var socket: String? {
        var host: UnsafeMutablePointer<CChar>?
        var number: CInt = 0
        guard unsafe xcb_parse_display(nil, &host, &number, nil) != 0 else { return nil }
        defer { unsafe free(host) }
        let isLocal = unsafe host.map { unsafe ["", "unix"].contains(String(cString: $0)) } ?? true
        return isLocal ? "/tmp/.X11-unix/X\(number)" : nil
    }

    init(on loop: EventLoop) throws(SourceLost) {
        var number: CInt = 0
        let connection = unsafe xcb_connect(nil, &number)
        do throws(SourceLost) {
            guard let connection = unsafe connection, unsafe xcb_connection_has_error(connection) == 0 else {
                throw SourceLost(
                    reason: variable("DISPLAY").map { "the X server at DISPLAY=\($0) does not answer" }
                        ?? "DISPLAY is not set")
            }
            var screens = unsafe xcb_setup_roots_iterator(xcb_get_setup(connection))
            while number > 0, unsafe screens.rem > 1 {
                unsafe xcb_screen_next(&screens)
                number -= 1
            }
            guard let screen = unsafe screens.data else { throw SourceLost(reason: "the X server has no screen") }
            unsafe self.connection = connection
            root = unsafe screen.pointee.root
            atoms = unsafe Self.atoms(connection)
            attestsProcesses = unsafe Self.hasClientIDs(connection)
            wake = try loop.wake(by: unsafe xcb_get_file_descriptor(connection))
        } catch {
            unsafe xcb_disconnect(connection)
            throw error
        }
        selectEvents(XCB_EVENT_MASK_PROPERTY_CHANGE, XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY, of: root)
    }

    isolated deinit {
        wake.cancel()
        unsafe xcb_disconnect(connection)
    }

    /// Sends the requests, and reads the events that have come.
    ///
    /// - Returns: Whether the windows may be others now.
    func takeNews() throws(SourceLost) -> Bool {
        _ = unsafe xcb_flush(connection)
        var hasNews = false
        while let event = unsafe xcb_poll_for_event(connection) {
            hasNews = unsafe isNews(event) || hasNews
            unsafe free(event)
        }
        try check()
        return hasNews
    }

    /// Titles change all the time and are no news.
    private func isNews(_ event: UnsafeMutablePointer<xcb_generic_event_t>) -> Bool {
        switch unsafe CInt(event.pointee.response_type & 0x7f) {
        case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_DESTROY_NOTIFY, XCB_REPARENT_NOTIFY: return true
        case XCB_PROPERTY_NOTIFY:
            let atom = unsafe UnsafeRawPointer(event).load(as: xcb_property_notify_event_t.self).atom
            return [.activeWindow, .clientList, .supported, .state].contains { self[$0] == atom }
        default: return false
        }
    }

    /// Fails if the connection has ended.
    func check() throws(SourceLost) {
        if unsafe xcb_connection_has_error(connection) != 0 {
            throw SourceLost(reason: "the X server has closed the connection")
        }
    }

    func selectEvents(_ first: xcb_event_mask_t, _ second: xcb_event_mask_t, of window: xcb_window_t) {
        var mask = first.rawValue | second.rawValue
        _ = unsafe xcb_change_window_attributes(connection, window, XCB_CW_EVENT_MASK.rawValue, &mask)
    }

    /// The number that the server has given an atom; 0 if it has not told it.
    subscript(_ atom: X11Atom) -> xcb_atom_t { atoms[atom] ?? 0 }

    private static func atoms(_ connection: OpaquePointer) -> [X11Atom: xcb_atom_t] {
        let cookies = X11Atom.allCases.map { atom in
            unsafe (atom, xcb_intern_atom(connection, 0, UInt16(atom.rawValue.utf8.count), atom.rawValue))
        }
        return cookies.reduce(into: [:]) { atoms, question in
            guard let reply = unsafe xcb_intern_atom_reply(connection, question.1, nil) else { return }
            defer { unsafe free(reply) }
            atoms[question.0] = unsafe reply.pointee.atom
        }
    }

    // MARK: Replies

    /// A request whose reply comes after those to all earlier requests.
    typealias Barrier = xcb_get_input_focus_cookie_t

    func askBarrier() -> Barrier {
        let barrier = unsafe xcb_get_input_focus(connection)
        _ = unsafe xcb_flush(connection)
        return barrier
    }

    /// Returns whether the reply has come, and takes it. Does not wait.
    func hasPassed(_ barrier: Barrier) -> Bool {
        var reply: UnsafeMutableRawPointer?
        guard unsafe xcb_poll_for_reply(connection, barrier.sequence, &reply, nil) != 0 else { return false }
        unsafe free(reply)
        return true
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

    /// Returns whether the server tells the processes of its clients, as the kernel has told them to it:
    /// the X-Resource extension 1.2.
    private static func hasClientIDs(_ connection: OpaquePointer) -> Bool {
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

/// The properties and states that are read.
private enum X11Atom: String, CaseIterable {
    case activeWindow = "_NET_ACTIVE_WINDOW"
    case clientList = "_NET_CLIENT_LIST"
    case supported = "_NET_SUPPORTED"
    case state = "_NET_WM_STATE"
    case hidden = "_NET_WM_STATE_HIDDEN"
    case process = "_NET_WM_PID"
    case name = "_NET_WM_NAME"
}
