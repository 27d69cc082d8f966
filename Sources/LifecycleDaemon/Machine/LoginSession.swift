import LifecycleCore
import Processes
import Systemd

/// The login session in which the apps are seen, see ``LoginSessionChoice``, and the machine's sleep, as logind reports them.
///
/// Without a session, a bus or logind nothing is reported, and the foreground is never blocked. While logind or the bus is away, the last
/// report holds; when it is back, the differences are reported.
final class LoginSession {
    enum Event {
        case locked
        case unlocked
        /// The machine is about to sleep, and waits for ``SleepDelay/release()``.
        case willSleep(SleepDelay)
        /// The machine is awake again, or has not slept after all.
        case didWake
        /// The seat shows another session, or the session has ended.
        case switchedAway
        case switchedBack
        /// The session with this identifier is followed.
        case followed(String)
        /// The state that the next daemon needs has changed, after the events that led to it.
        case changed(FollowedLoginSession)
    }

    private let bus: Bus
    private let choice: LoginSessionChoice
    private let handler: (Event) -> Void
    private let inhibitor: SleepInhibitor
    private var name: BusName?
    /// The present session, or the last one.
    private var followed: String?
    private var sleep: BusSlot?
    private var finder: LoginSessionFinder?
    private var matches: [BusSlot?] = []
    /// The state of the session; before one is found, that of a machine without any.
    private var state: LoginSessionState
    private var reported: LoginSessionState
    private var isAsleep: Bool
    private var known: FollowedLoginSession

    /// Begins to follow, as soon as logind is on the bus.
    ///
    /// - Parameters:
    ///   - reported: The state that the previous daemon has reported.
    ///   - path: The session that it has followed.
    ///   - isAsleep: A Boolean value that indicates whether it has reported a sleep and not its end.
    init(
        bus: Bus, choice: LoginSessionChoice, reported: LoginSessionState = LoginSessionState(), path: String? = nil,
        isAsleep: Bool = false, handler: @escaping (Event) -> Void
    ) {
        state = reported
        followed = path
        known = FollowedLoginSession(path: path, hint: reported.hint)
        self.reported = reported
        self.isAsleep = isAsleep
        self.bus = bus
        self.choice = choice
        self.handler = handler
        inhibitor = SleepInhibitor(bus: bus)
        name = bus.watchName(Logind.name) { [weak self] owner in self?.ownerChanged(owner) }
    }

    private func ownerChanged(_ owner: String?) {
        matches = []
        finder = nil
        sleep = nil
        guard let owner else { return }
        let rule = BusMatchRule(
            sender: owner, path: Logind.path, interface: Logind.manager, member: "PrepareForSleep")
        sleep = bus.match(rule) { [weak self] message in
            if let begins = message.arguments.first?.bool { self?.sleepChanged(begins, owner) }
        }
        inhibitor.acquire(from: owner)
        // A sleep may have begun or ended while logind was away.
        bus.call(.allProperties(of: Logind.manager, at: Logind.path, destination: owner)) { [weak self] reply in
            guard let self, let properties = try? reply.get().first?.dictionary else { return }
            let longest = properties["InhibitDelayMaxUSec"]?.unsigned
            self.inhibitor.longest = longest.map { .microseconds(Int64(clamping: $0)) }
            if let isPreparing = properties["PreparingForSleep"]?.bool { self.sleepChanged(isPreparing, owner) }
        }
        finder = LoginSessionFinder(bus: bus, owner: owner, choice: choice) { [weak self] path in
            guard let path else { return self?.sessionEnded() ?? () }
            self?.follow(path, owner)
        }
    }

    /// Handles the end of the session. A session that has ended is not seen. Its lock holds until there is another.
    private func sessionEnded() {
        matches = []
        state.isActive = false
        report()
    }

    private func follow(_ path: String, _ owner: String) {
        // Another session was not asked to lock; the same one, of a restarted logind, was.
        if let followed, path != followed { state.wasAsked = false }
        followed = path
        matches = ["Lock", "Unlock"].map { member in
            let rule = BusMatchRule(sender: owner, path: path, interface: Logind.session, member: member)
            return bus.match(rule) { [weak self] _ in
                self?.state.wasAsked = member == "Lock"
                self?.report()
            }
        }
        let changes = BusMatchRule.propertiesChanged(of: Logind.session, at: path, sender: owner)
        matches.append(bus.match(changes) { [weak self] in self?.apply($0.arguments.dropFirst().first?.dictionary) })
        bus.call(.allProperties(of: Logind.session, at: path, destination: owner)) { [weak self] reply in
            let properties = try? reply.get().first?.dictionary
            if let identifier = properties?["Id"]?.text { self?.handler(.followed(identifier)) }
            self?.apply(properties)
        }
    }

    private func apply(_ properties: [String: BusValue]?) {
        guard let properties else { return }
        state.apply(properties)
        report()
    }

    /// Reports the differences from the last report. The handler sees each event with the state that it led to.
    private func report() {
        let before = reported
        reported = state
        if !before.isLocked, reported.isLocked { handler(.locked) }
        if before.isActive, !reported.isActive { handler(.switchedAway) }
        if !before.isActive, reported.isActive { handler(.switchedBack) }
        if before.isLocked, !reported.isLocked { handler(.unlocked) }
        let new = FollowedLoginSession(path: followed, hint: state.hint)
        guard new != known else { return }
        known = new
        handler(.changed(new))
    }

    private func sleepChanged(_ begins: Bool, _ owner: String) {
        guard begins != isAsleep else { return }
        isAsleep = begins
        guard !begins else { return handler(.willSleep(inhibitor.handOver())) }
        inhibitor.acquire(from: owner)
        handler(.didWake)
    }
}

/// The facts of logind that decide whether the user sees the session.
nonisolated struct LoginSessionState: Hashable, Sendable {
    /// A Boolean value that indicates whether the seat shows the session.
    var isActive = true
    /// The locker's `LockedHint`. Many lockers never set it.
    var hint = false
    /// A Boolean value that indicates whether the session was asked to lock and not to unlock since.
    var wasAsked = false

    /// A Boolean value that indicates whether the session is locked.
    ///
    /// It was asked to lock (`loginctl lock-session`, a lid, a power key), or its locker says so. logind does not know more of a locker
    /// that never sets `LockedHint`.
    var isLocked: Bool { hint || wasAsked }

    /// Sets the hint. Its end also ends a request to lock: a user who unlocks with a password does not use logind.
    mutating func set(hint new: Bool) {
        if hint, !new { wasAsked = false }
        hint = new
    }
}

extension LoginSessionState {
    /// Applies those properties of a session that are there.
    mutating func apply(_ properties: [String: BusValue]) {
        if let active = properties["Active"]?.bool { isActive = active }
        if let locked = properties["LockedHint"]?.bool { set(hint: locked) }
    }
}

/// The session that the previous daemon has followed.
///
/// The core knows that the session is locked. The hint decides what ends that: a locker whose hint has ended meanwhile has
/// unlocked the session; a session that was asked to lock stays locked until it is asked to unlock.
nonisolated struct FollowedLoginSession: Equatable, Sendable {
    var path: String?
    var hint = false
}

extension FollowedLoginSession: SavedTable {
    mutating func code(with coder: inout SavedCoder) {
        coder.text("path", &path)
        coder.flag("hint", &hint)
    }
}

/// The session files of logind. sd-login(3) of systemd 252 has no function for the leader.
enum LoginSessionFile {
    static func leader(of session: String) -> ProcessID? {
        guard session.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != 0 }),
            let text = try? SmallFile.read("/run/systemd/sessions/\(session)")
        else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("LEADER=") }
        return line.flatMap { ProcessID($0.dropFirst("LEADER=".count)) }
    }
}

/// A delay lock of logind, held until the apps are suspended.
///
/// The machine sleeps when every lock is released, at the latest after ``longest``. The end of the object releases it too.
final class SleepDelay {
    /// The longest delay (`InhibitDelayMaxSec=` of logind.conf(5)); nil if logind has not reported it, or has given no lock.
    let longest: Duration?

    private var lock: BusDescriptor?

    var isHeld: Bool { lock != nil }

    init(lock: BusDescriptor?, longest: Duration?) {
        self.lock = lock
        self.longest = lock == nil ? nil : longest
    }

    func release() { lock = nil }
}

/// Holds a delay lock before each sleep: one that is acquired when the sleep is announced may come too late.
final class SleepInhibitor {
    private let bus: Bus
    private var owner: String?
    private var lock: BusDescriptor?
    /// The longest delay that logind has reported.
    var longest: Duration?

    init(bus: Bus) {
        self.bus = bus
    }

    /// Acquires a lock. A lock that is held is released when the new one is there.
    func acquire(from owner: String) {
        self.owner = owner
        let call = BusCall(
            owner, path: Logind.path, interface: Logind.manager, member: "Inhibit",
            arguments: [.text("sleep"), .text("lifed"), .text("Apps are being suspended"), .text("delay")])
        bus.call(call) { [weak self] reply in
            // Without a lock the machine sleeps without a delay.
            guard let self, self.owner == owner, let lock = try? reply.get().first?.descriptor else { return }
            self.lock = lock
        }
    }

    func handOver() -> SleepDelay {
        defer { lock = nil }
        return SleepDelay(lock: lock, longest: longest)
    }
}

/// The names of logind on the bus: org.freedesktop.login1(5).
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let seat = "org.freedesktop.login1.Seat"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
}
