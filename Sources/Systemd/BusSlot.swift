import CSystemd

/// What is waited for on a bus: the reply to a call, or signals that match a rule. Dropping it ends the wait.
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

    /// Takes over the reference that one of the sd_bus functions made.
    func adopt(_ slot: OpaquePointer?) {
        unsafe self.slot = slot
    }

    /// What every callback of libsystemd comes down to. The result lets other matches see the message too.
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
