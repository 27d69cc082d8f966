import CSystemd
import Glibc

/// The header of a message between two other connections. Its contents are not read.
public struct BusHeader {
    /// The kind of the message.
    public enum Kind: Equatable {
        /// A method call; whether the caller waits for a reply.
        case call(expectsReply: Bool)
        /// A reply or an error for the call with this number.
        case reply(to: UInt64)
    }

    /// The kind of the message.
    public let kind: Kind
    /// The unique name of the sender, attested by the bus.
    public let sender: String
    /// The name to which the message goes, as the sender gave it: unique or well known.
    public let destination: String
    /// The number of the message, unique for its sender.
    public let serial: UInt64
}

extension BusHeader {
    /// Nil for a signal, and for a message without a sender or a destination.
    init?(_ message: OpaquePointer) {
        var type: UInt8 = 0
        var serial: UInt64 = 0
        guard unsafe sd_bus_message_get_type(message, &type) >= 0,
            unsafe sd_bus_message_get_cookie(message, &serial) >= 0,
            let sender = unsafe text(sd_bus_message_get_sender(message)),
            let destination = unsafe text(sd_bus_message_get_destination(message))
        else { return nil }
        if Int(type) == SD_BUS_MESSAGE_METHOD_CALL {
            kind = .call(expectsReply: unsafe sd_bus_message_get_expect_reply(message) > 0)
        } else {
            var answered: UInt64 = 0
            guard unsafe sd_bus_message_get_reply_cookie(message, &answered) >= 0 else { return nil }
            kind = .reply(to: answered)
        }
        self.sender = sender
        self.destination = destination
        self.serial = serial
    }
}

/// A connection that sees the messages of others, as long as it is kept: org.freedesktop.DBus.Monitoring.BecomeMonitor.
///
/// An ordinary user may monitor a session bus. A monitor sends nothing. To watch other messages, replace it.
@MainActor public final class BusMonitor {
    /// A Boolean value that indicates whether the bus has confirmed the rules.
    public private(set) var isReady = false

    /// A Boolean value that indicates whether the bus has closed the connection, for example because the monitor did not read fast
    /// enough.
    public private(set) var hasEnded = false

    private var connection: BusConnection?
    private let rules: [String]
    private let onState: (Result<Void, BusError>) -> Void

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - loop: The loop that dispatches the messages.
    ///   - address: The address of the bus, in the form of the D-Bus specification.
    ///   - rules: Match rules of the D-Bus specification. dbus-broker ignores the key `destination`.
    ///   - onState: Called with success when the monitor sees messages, and with an error when it sees none any more. It must not drop
    ///     the monitor.
    ///   - onMessage: Called with the header of each call and reply. It must not drop the monitor.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left, or the address is not valid.
    public init(
        loop: EventLoop, address: String, rules: [String], onState: @escaping (Result<Void, BusError>) -> Void,
        onMessage: @escaping (BusHeader) -> Void
    ) throws(SystemdError) {
        self.rules = rules
        self.onState = onState
        let connection = try BusConnection(loop: loop, address: address, isMonitor: true) { [weak self] isUp in
            if isUp { self?.becomeMonitor() } else { self?.end("the bus closed the connection") }
        }
        self.connection = connection
        try unsafe connection.addFilter { [weak self] message in
            if let self, isReady, let header = unsafe BusHeader(message) { onMessage(header) }
        }
    }

    private func becomeMonitor() {
        let bus = "org.freedesktop.DBus"
        let call = BusCall(
            bus, path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus.Monitoring", member: "BecomeMonitor",
            arguments: [.texts(rules), .unsigned(0)])
        do throws(SystemdError) {
            try connection?.send(call) { [weak self] reply in
                guard let self else { return }
                switch reply {
                case .success:
                    isReady = true
                    onState(.success(()))
                case .failure(let error): fail(error.description)
                }
            }
        } catch {
            fail(error.description)
        }
    }

    private func end(_ reason: String) {
        hasEnded = true
        fail(reason)
    }

    private func fail(_ reason: String) {
        isReady = false
        onState(.failure(BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: reason)))
    }
}
