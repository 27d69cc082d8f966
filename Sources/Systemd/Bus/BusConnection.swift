import CSystemd
import Glibc

/// One connection to a message bus, from its first attempt to its end. Requests on it end with it.
///
/// libsystemd connects from the loop: it waits for a socket that is not there yet with inotify(7), and neither
/// connecting nor the greeting waits here (sd_bus_set_watch_bind(3), sd_bus_set_connected_signal(3)).
@MainActor
@safe final class BusConnection {
    private let bus: OpaquePointer
    private var states: [BusSlot] = []
    private var calls: [ObjectIdentifier: BusSlot] = [:]

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - isMonitor: A Boolean value that indicates whether the connection is to see the messages of others.
    ///   - onState: Called with true when the bus has greeted back, with false when the connection has ended.
    init(
        loop: EventLoop, address: String, isMonitor: Bool = false, onState: @escaping (Bool) -> Void
    ) throws(SystemdError) {
        var bus: OpaquePointer?
        try unsafe checked(sd_bus_new(&bus), "prepare a bus connection")
        guard let bus = unsafe bus else { throw SystemdError(operation: "prepare a bus connection", errno: ENOMEM) }
        unsafe self.bus = bus
        try unsafe checked(sd_bus_set_address(bus, address), "use the bus address \(address)")
        try unsafe checked(sd_bus_set_bus_client(bus, 1), "register with a bus")
        try unsafe checked(sd_bus_negotiate_fds(bus, 1), "enable descriptors on a bus")
        try unsafe checked(sd_bus_set_monitor(bus, isMonitor ? 1 : 0), "monitor a bus")
        try unsafe checked(sd_bus_set_watch_bind(bus, 1), "wait for a bus")
        try unsafe checked(sd_bus_set_connected_signal(bus, 1), "request the signal of a connected bus")
        try unsafe checked(sd_bus_attach_event(bus, loop.event, Int32(SD_EVENT_PRIORITY_NORMAL)), "watch a bus")
        // The library would otherwise write out its queue, and wait for that, when the loop ends.
        try unsafe checked(sd_bus_set_close_on_exit(bus, 0), "keep a bus open at exit")
        for (member, isUp) in [("Connected", true), ("Disconnected", false)] {
            let rule = "sender='\(Self.local)',interface='\(Self.local)',member='\(member)'"
            states.append(try unsafe addMatch(rule) { _ in onState(isUp) })
        }
        try unsafe checked(sd_bus_start(bus), "connect to the bus at \(address)")
    }

    /// Messages that the library sends to itself. No peer can send them: it refuses this sender from outside.
    private static let local = "org.freedesktop.DBus.Local"

    isolated deinit {
        for slot in states + calls.values { slot.cancel() }
        // Without the flush, which could wait.
        unsafe sd_bus_detach_event(bus)
        unsafe sd_bus_close_unref(bus)
    }

    func addMatch(_ rule: String, handler: @escaping (OpaquePointer) -> Void) throws(SystemdError) -> BusSlot {
        let wait = unsafe BusSlot(handler: handler)
        var slot: OpaquePointer?
        let result = unsafe sd_bus_add_match_async(
            bus, &slot, rule, { message, userdata, _ in unsafe BusSlot.deliver(message, to: userdata) }, nil,
            wait.userdata)
        try checked(result, "watch a bus for \(rule)")
        unsafe wait.setSlot(slot)
        return wait
    }

    /// Passes each message between other connections to a handler, and keeps it from everything else.
    func addFilter(handler: @escaping (OpaquePointer) -> Void) throws(SystemdError) {
        let wait = unsafe BusSlot(handler: handler)
        var slot: OpaquePointer?
        let result = unsafe sd_bus_add_filter(
            bus, &slot,
            { message, userdata, _ in
                _ = unsafe BusSlot.deliver(message, to: userdata)
                // The library would answer calls, and the bus disconnects a monitor that sends.
                return unsafe sd_bus_message_is_signal(message, nil, nil) > 0 ? 0 : 1
            }, wait.userdata)
        try checked(result, "monitor a bus")
        unsafe wait.setSlot(slot)
        states.append(wait)
    }

    /// Sends a call. The handler is called once, unless the connection is dropped before.
    func send(_ call: BusCall, handler: @escaping (Result<[BusValue], BusError>) -> Void) throws(SystemdError) {
        let message = try unsafe call.message(on: bus)
        defer { unsafe sd_bus_message_unref(message) }
        var key: ObjectIdentifier?
        let wait = unsafe BusSlot { [weak self] reply in
            // Kept until the handler has returned.
            let own = key.flatMap { self?.calls.removeValue(forKey: $0) }
            unsafe handler(readReply(reply))
            own?.cancel()
        }
        var slot: OpaquePointer?
        let result = unsafe sd_bus_call_async(
            bus, &slot, message, { message, userdata, _ in unsafe BusSlot.deliver(message, to: userdata) },
            wait.userdata, 0)
        try checked(result, "call \(call.member)")
        unsafe wait.setSlot(slot)
        key = ObjectIdentifier(wait)
        calls[ObjectIdentifier(wait)] = wait
    }
}

/// A pending reply, or a subscription to signals that match a rule. Dropping it ends the wait.
///
/// libsystemd holds the object's address without a reference of its own, and forgets it with the slot.
@MainActor
@safe public final class BusSlot {
    private var slot: OpaquePointer?
    private var handler: ((OpaquePointer) -> Void)?

    init(handler: @escaping (OpaquePointer) -> Void) {
        unsafe self.handler = handler
    }

    isolated deinit {
        cancel()
    }

    /// Ends the wait: the handler is never called again. Harmless when repeated.
    public func cancel() {
        unsafe handler = nil
        guard let slot = unsafe slot else { return }
        unsafe self.slot = nil
        unsafe sd_bus_slot_unref(slot)
    }
}

extension BusSlot {
    var userdata: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    /// Keeps the reference that one of the sd_bus functions made.
    func setSlot(_ slot: OpaquePointer?) {
        unsafe self.slot = slot
    }

    /// Delivers a message to its handler. The result lets other matches see the message too.
    nonisolated static func deliver(_ message: OpaquePointer?, to userdata: UnsafeMutableRawPointer?) -> Int32 {
        guard let userdata = unsafe userdata, let message = unsafe message else { return 0 }
        let object = unsafe Unmanaged<BusSlot>.fromOpaque(userdata)
        let slot = unsafe object.takeUnretainedValue()
        nonisolated(unsafe) let received = unsafe message
        MainActor.assumeIsolated {
            guard let handler = unsafe slot.handler else { return }
            unsafe handler(received)
        }
        return 0
    }
}
