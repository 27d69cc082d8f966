import CSystemd
import Glibc

/// A message bus (D-Bus), connected as soon as its socket is there. Nothing waits.
///
/// If the bus closes the connection, it is tried again after 1 s, and after twice as long each time, up to 1 min. Requests end with their
/// connection; ``watchName(_:onOwner:)`` tells when to repeat them.
@MainActor public final class Bus {
    /// The system bus's address: `DBUS_SYSTEM_BUS_ADDRESS`, or what the D-Bus specification says.
    public static var systemAddress: String {
        let value = unsafe getenv("DBUS_SYSTEM_BUS_ADDRESS").map { unsafe String(cString: $0) }
        return value.flatMap { $0.isEmpty ? nil : $0 } ?? "unix:path=/run/dbus/system_bus_socket"
    }

    /// The session bus's address: `DBUS_SESSION_BUS_ADDRESS`, or the socket of systemd's dbus.socket; nil if the process has no
    /// runtime directory.
    public static var sessionAddress: String? {
        let value = unsafe getenv("DBUS_SESSION_BUS_ADDRESS").map { unsafe String(cString: $0) }
        if let value, !value.isEmpty { return value }
        return unsafe getenv("XDG_RUNTIME_DIR").map { "unix:path=\(unsafe String(cString: $0))/bus" }
    }

    /// A Boolean value that indicates whether the bus has answered the greeting.
    public private(set) var isConnected = false

    /// The address of the bus, such as `unix:path=/run/user/1000/bus`.
    public let address: String
    private let loop: EventLoop
    private let onProblem: (String) -> Void
    private var connection: BusConnection?
    private let ending: LaterSource
    private let retry: TimerSource
    private var retryDelay = Bus.firstRetry
    private var isProblemReported = false
    private var names: [WeakName] = []

    private static let firstRetry: UInt64 = 1_000_000
    private static let longestRetry: UInt64 = 60_000_000

    /// Begins to connect, with the first iteration of the loop.
    ///
    /// - Parameters:
    ///   - loop: The loop that dispatches the messages.
    ///   - address: The address of the bus, in the form of the D-Bus specification.
    ///   - onProblem: Called with one line when the bus cannot be used although it is there, and again only after the bus could be
    ///     used in between.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public init(
        loop: EventLoop, address: String = Bus.systemAddress, onProblem: @escaping (String) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.address = address
        self.onProblem = onProblem
        // A connection cannot be taken apart in the midst of its own callback.
        let owner = Owner<Bus>()
        ending = try loop.later { owner.object?.end(because: "the bus closed the connection") }
        retry = try loop.timer { owner.object?.connect() }
        owner.object = self
        retry.arm(atMicroseconds: loop.now)
    }

    /// Sends a call.
    ///
    /// - Parameter handler: Called once with the reply, or with an error of the library's after 25 s without one.
    ///   Never called when there is no connection, or it ends before.
    public func call(_ call: BusCall, handler: @escaping (Result<[BusValue], BusError>) -> Void) {
        guard let connection, isConnected else { return }
        do throws(SystemdError) {
            try connection.send(call, handler: handler)
        } catch {
            report(error.description)
        }
    }

    /// Watches for signals for as long as the result is kept and the connection lasts.
    ///
    /// - Parameters:
    ///   - rule: The signals.
    ///   - handler: Called with each signal.
    /// - Returns: The watch, which ends when it is dropped; nil without a connection.
    public func match(_ rule: BusMatchRule, handler: @escaping (BusMessage) -> Void) -> BusSlot? {
        guard let connection, isConnected else { return nil }
        do throws(SystemdError) {
            return try unsafe connection.addMatch(rule.text) { message in unsafe handler(BusMessage(message)) }
        } catch {
            report(error.description)
            return nil
        }
    }

    /// Watches the owner of a well-known name, through all connections, for as long as the result is kept.
    ///
    /// - Parameters:
    ///   - name: The well-known name.
    ///   - onOwner: Called with the owner's unique name whenever there is a new one, with nil when there is none any more.
    /// - Returns: The watch, which ends when it is dropped.
    public func watchName(_ name: String, onOwner: @escaping (String?) -> Void) -> BusName {
        let watch = BusName(name, bus: self, onOwner: onOwner)
        names = names.filter { $0.name != nil } + [WeakName(name: watch)]
        if isConnected { watch.busConnected() }
        return watch
    }
}

extension Bus {
    private func connect() {
        do throws(SystemdError) {
            connection = try BusConnection(loop: loop, address: address) { [weak self] isUp in
                self?.setConnected(isUp)
            }
        } catch {
            end(because: error.description)
        }
    }

    private func setConnected(_ isUp: Bool) {
        guard isUp else {
            isConnected = false
            ending.schedule()
            return
        }
        isConnected = true
        for each in names { each.name?.busConnected() }
    }

    private func end(because reason: String) {
        // The delay begins anew after a useful connection. A connection that was refused never is.
        let wasOfUse = names.contains { $0.name?.hasAnswer == true }
        isConnected = false
        connection = nil
        for each in names { each.name?.busDisconnected() }
        if wasOfUse {
            retryDelay = Bus.firstRetry
            isProblemReported = false
        } else {
            report(reason)
        }
        retry.arm(atMicroseconds: loop.freshNow + retryDelay)
        retryDelay = min(retryDelay * 2, Bus.longestRetry)
    }

    private func report(_ problem: String) {
        guard !isProblemReported else { return }
        isProblemReported = true
        onProblem(problem)
    }
}

private struct WeakName {
    weak var name: BusName?
}

/// The owner of a well-known name, watched. See `Bus.watchName`.
///
/// The owner's unique name is what to match signals by. The bus itself attests it: `org.freedesktop.DBus` is a name
/// that no client can send by.
@MainActor public final class BusName {
    /// The unique name of the owner, if there is one.
    public private(set) var owner: String?

    /// A Boolean value that indicates whether the bus has named the owner, or said that there is none, on this
    /// connection.
    public private(set) var hasAnswer = false

    private let name: String
    private weak var bus: Bus?
    private let onOwner: (String?) -> Void
    private var changes: BusSlot?

    init(_ name: String, bus: Bus, onOwner: @escaping (String?) -> Void) {
        self.name = name
        self.bus = bus
        self.onOwner = onOwner
    }

    func busConnected() {
        let busName = "org.freedesktop.DBus"
        let rule = BusMatchRule(
            sender: busName, path: "/org/freedesktop/DBus", interface: busName, member: "NameOwnerChanged",
            argument: name)
        changes = bus?.match(rule) { [weak self] message in
            guard message.arguments.count == 3 else { return }
            self?.handleAnswer(message.arguments[2].text)
        }
        // Asked after the rule is in place, so that no change falls in between.
        let call = BusCall(
            busName, path: "/org/freedesktop/DBus", interface: busName, member: "GetNameOwner", arguments: [.text(name)]
        )
        bus?.call(call) { [weak self] reply in self?.handleAnswer(try? reply.get().first?.text) }
    }

    func busDisconnected() {
        changes = nil
        hasAnswer = false
        setOwner(nil)
    }

    private func handleAnswer(_ name: String?) {
        hasAnswer = true
        setOwner(name.flatMap { $0.isEmpty ? nil : $0 })
    }

    private func setOwner(_ new: String?) {
        guard new != owner else { return }
        owner = new
        onOwner(new)
    }
}
