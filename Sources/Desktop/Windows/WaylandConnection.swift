import CWayland
import Glibc
import Systemd

/// An object of a Wayland connection: the address of its proxy, which no other object has until this one is destroyed.
@safe struct WaylandObject: Hashable {
    fileprivate let proxy: OpaquePointer

    fileprivate init(_ proxy: OpaquePointer) { unsafe self.proxy = proxy }

    /// The version that both sides speak.
    fileprivate var version: UInt32 { unsafe wl_proxy_get_version(proxy) }

    static func == (left: WaylandObject, right: WaylandObject) -> Bool { unsafe left.proxy == right.proxy }

    func hash(into hasher: inout Hasher) { hasher.combine(unsafe UInt(bitPattern: proxy)) }
}

/// The arguments of an event. Libwayland has checked that they are those of the table.
@safe struct WaylandArguments {
    private let arguments: UnsafeMutablePointer<wl_argument>

    fileprivate init(_ arguments: UnsafeMutablePointer<wl_argument>) { unsafe self.arguments = arguments }

    func unsigned(_ index: Int) -> UInt32 { unsafe arguments[index].u }

    func signed(_ index: Int) -> Int32 { unsafe arguments[index].i }

    /// Returns the object; nil if there is none, or this side has destroyed it.
    func object(_ index: Int) -> WaylandObject? { unsafe arguments[index].o.map { unsafe WaylandObject($0) } }

    /// Returns the beginning of the text, with replacements for bytes that are not UTF-8; empty for none.
    func text(_ index: Int) -> String {
        guard let text = unsafe arguments[index].s else { return "" }
        let length = unsafe strnlen(text, Item.textLimit)
        return unsafe String(
            decoding: UnsafeRawBufferPointer(start: UnsafeRawPointer(text), count: length), as: UTF8.self)
    }

    /// Returns the numbers of an array.
    func words(_ index: Int) -> [UInt32] {
        guard let array = unsafe arguments[index].a, let data = unsafe array.pointee.data else { return [] }
        return unsafe (0..<array.pointee.size / 4).map {
            unsafe data.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self)
        }
    }
}

/// The receiver of the events of an object.
@MainActor private final class WaylandRoute {
    let handle: WaylandConnection.Handler

    init(_ handle: @escaping WaylandConnection.Handler) { self.handle = handle }
}

/// An interface that the compositor offers.
struct WaylandGlobal {
    let name: UInt32
    let interface: String
    let version: UInt32
}

/// A connection to a compositor: requests, and the receivers of events.
@MainActor @safe final class WaylandConnection {
    /// Called with the number of an event in the table of the interface, the object, and the arguments.
    typealias Handler = (UInt32, WaylandObject, WaylandArguments) -> Void

    private let display: OpaquePointer
    private var registry: WaylandObject?
    /// The receiver of each object that this side has not ended.
    private var routes: [WaylandObject: WaylandRoute] = [:]
    private let wake: IOSource

    /// Connects to the compositor at WAYLAND_DISPLAY.
    init(on loop: EventLoop) throws(SourceLost) {
        // Libwayland would write every message to standard error.
        _ = unsafe unsetenv("WAYLAND_DEBUG")
        guard let display = unsafe wl_display_connect(nil) else {
            let reason = errnoText(errno)
            throw SourceLost(
                reason: variable("WAYLAND_DISPLAY").map { "no compositor listens at WAYLAND_DISPLAY=\($0) (\(reason))" }
                    ?? "WAYLAND_DISPLAY is not set")
        }
        do throws(SourceLost) {
            wake = try loop.wake(by: unsafe wl_display_get_fd(display))
        } catch {
            unsafe wl_display_disconnect(display)
            throw error
        }
        unsafe self.display = display
    }

    isolated deinit {
        wake.cancel()
        for object in routes.keys { unsafe wl_proxy_destroy(object.proxy) }
        unsafe wl_display_disconnect(display)
    }

    /// Handles the events that have come, and sends the requests. Does not wait.
    func handleEvents() throws(SourceLost) {
        while unsafe wl_display_prepare_read(display) != 0 { try dispatch() }
        if unsafe wl_display_read_events(display) < 0, errno != EAGAIN { throw end }
        try dispatch()
        // Events lead to requests. If this fails for another reason, the next read has it, with the last words of the compositor.
        let isUnsent = unsafe wl_display_flush(display) < 0 && errno == EAGAIN
        wake.events = isUnsent ? [.readable, .writable] : .readable
    }

    private func dispatch() throws(SourceLost) {
        if unsafe wl_display_dispatch_pending(display) < 0 { throw end }
    }

    private var end: SourceLost {
        let error = unsafe wl_display_get_error(display)
        guard error != EPROTO else {
            var interface: UnsafePointer<wl_interface>?
            var object: UInt32 = 0
            let code = unsafe wl_display_get_protocol_error(display, &interface, &object)
            let name = unsafe interface.map { unsafe String(cString: $0.pointee.name) } ?? "an object"
            return SourceLost(reason: "the compositor refuses a request of \(name) (error \(code))")
        }
        return SourceLost(
            reason: error == EPIPE || error == ECONNRESET || error == 0
                ? "the compositor has closed the connection"
                : "the connection to the compositor has failed (\(errnoText(error)))")
    }

    // MARK: Objects

    /// Requests the list of what the compositor offers.
    ///
    /// - Parameters:
    ///   - appeared: Called for each offer, now and later.
    ///   - disappeared: Called with the name of an offer that ends.
    func listGlobals(appeared: @escaping (WaylandGlobal) -> Void, disappeared: @escaping (UInt32) -> Void) {
        registry = unsafe register(wl_display_get_registry(display)) { event, _, arguments in
            switch event {
            case 0:
                appeared(
                    WaylandGlobal(
                        name: arguments.unsigned(0), interface: arguments.text(1), version: arguments.unsigned(2)))
            case 1: disappeared(arguments.unsigned(0))
            default: break
            }
        }
    }

    /// Binds an offer.
    ///
    /// - Parameter version: The highest version that this side speaks.
    func bind(
        _ global: WaylandGlobal, _ interface: UnsafePointer<wl_interface>, version: UInt32,
        _ handle: @escaping Handler
    ) -> WaylandObject? {
        guard let registry else { return nil }
        let version = min(version, global.version)
        let name = unsafe interface.pointee.name
        var arguments = unsafe [
            wl_argument(u: global.name), wl_argument(s: name), wl_argument(u: version), wl_argument(n: 0),
        ]
        let proxy = unsafe wl_proxy_marshal_array_flags(registry.proxy, 0, interface, version, 0, &arguments)
        return unsafe register(proxy, handle)
    }

    /// Sends a request for a new object with a text, or else a number.
    func create(
        _ interface: UnsafePointer<wl_interface>, by request: UInt32, of object: WaylandObject, number: UInt32 = 0,
        text: String? = nil, _ handle: @escaping Handler
    ) -> WaylandObject? {
        let proxy = unsafe (text ?? "").withCString { bytes in
            let argument = unsafe text == nil ? wl_argument(u: number) : wl_argument(s: bytes)
            var arguments = unsafe [wl_argument(n: 0), argument]
            return unsafe wl_proxy_marshal_array_flags(
                object.proxy, request, interface, object.version, 0, &arguments)
        }
        return unsafe register(proxy, handle)
    }

    private func register(_ proxy: OpaquePointer?, _ handle: @escaping Handler) -> WaylandObject? {
        guard let proxy = unsafe proxy else { return nil }
        let object = unsafe WaylandObject(proxy)
        listen(to: object, handle)
        return object
    }

    /// Receives the events of an object until it ends.
    func listen(to object: WaylandObject, _ handle: @escaping Handler) {
        let route = WaylandRoute(handle)
        routes[object] = route
        _ = unsafe wl_proxy_add_dispatcher(object.proxy, dispatchEvent, Unmanaged.passUnretained(route).toOpaque(), nil)
    }

    /// Sends a request that ends an object. Events that are on their way are lost.
    func destroy(_ object: WaylandObject, by request: UInt32) {
        routes[object] = nil
        var none: [wl_argument] = unsafe []
        _ = unsafe wl_proxy_marshal_array_flags(
            object.proxy, request, nil, object.version, UInt32(WL_MARSHAL_FLAG_DESTROY), &none)
    }

    /// Forgets an object that the protocol cannot end.
    func forget(_ object: WaylandObject) {
        routes[object] = nil
        unsafe wl_proxy_destroy(object.proxy)
    }

    /// Calls a closure when the compositor has handled all requests up to now.
    func synchronize(_ done: @escaping () -> Void) {
        _ = unsafe register(wl_display_sync(display)) { [unowned self] _, callback, _ in
            forget(callback)
            done()
        }
    }
}

/// Passes an event on to its route.
private let dispatchEvent: wl_dispatcher_func_t = { route, target, event, _, arguments in
    guard let route = unsafe route, let target = unsafe target, let arguments = unsafe arguments else { return 0 }
    // Events are dispatched by the main actor's own call of libwayland.
    nonisolated(unsafe) let (source, values) = unsafe (target, arguments)
    let receiver = unsafe Unmanaged<WaylandRoute>.fromOpaque(route).takeUnretainedValue()
    MainActor.assumeIsolated {
        unsafe receiver.handle(event, WaylandObject(OpaquePointer(source)), WaylandArguments(values))
    }
    return 0
}
