import Systemd

/// The login session in which the apps are seen, and the machine's sleep, as logind tells them.
///
/// *Which session*: the machine's daemon follows the session of a user that seat0 shows. On a kiosk that is the one
/// logged in automatically, on a phone the owner's; where a compositor runs without a session, nothing is told and the
/// apps are always in front. A person's daemon follows that person's session, see `SessionChoice`.
///
/// *Locked* is a session that was asked to lock (`loginctl lock-session`, a lid, a power key) or whose locker says that
/// it is locked. It ends when it is asked to unlock or when the locker says so. A locker that neither sets
/// `LockedHint` nor is followed by `loginctl unlock-session` leaves it locked: logind cannot know better.
///
/// When logind or the bus goes away, what was told last holds, and what is found when it comes back is compared to it.
/// Without a bus or without logind nothing is ever told.
final class LoginSession {
    enum Event {
        /// The session is locked. Told once until `.unlocked`.
        case locked
        case unlocked
        /// The machine is about to sleep, and waits for `SleepDelay.release()`.
        case willSleep(SleepDelay)
        /// The machine is awake again, or has not gone to sleep after all.
        case didWake
        /// The seat shows another session, or the session has ended. Told once until `.switchedBack`.
        case switchedAway
        case switchedBack
    }

    /// Called with the identifier of a session when it is followed, for the log.
    var onFollow: ((String) -> Void)?
    /// Called when a daemon that comes after would need to know something else, once that has been told.
    var onChange: ((FollowedSession) -> Void)?

    private let bus: Bus
    private let choice: SessionChoice
    private let handler: (Event) -> Void
    private let inhibitor: SleepInhibitor
    private var name: BusName?
    /// The present session, or the last one there was.
    private var followed: String?
    private var sleep: BusSlot?
    private var finder: SessionFinder?
    private var matches: [BusSlot?] = []
    /// The present session's; until one is found, that of a machine without any.
    private var state: SessionState
    private var told: SessionState
    private var isAsleep: Bool
    private var known: FollowedSession

    /// Begins to follow, as soon as there is a bus and a logind on it.
    ///
    /// - Parameters:
    ///   - told: What was told by a daemon before. A session that was asked to lock counts as locked until it is asked to
    ///     unlock, or its locker says so.
    ///   - path: The session that was followed; another one counts as locked only when it is.
    ///   - isAsleep: Whether a sleep was told of and its end was not.
    init(
        bus: Bus, choice: SessionChoice, told: SessionState = SessionState(), path: String? = nil,
        isAsleep: Bool = false, handler: @escaping (Event) -> Void
    ) {
        state = told
        followed = path
        known = FollowedSession(path: path, hint: told.hint)
        self.told = told
        self.isAsleep = isAsleep
        self.bus = bus
        self.choice = choice
        self.handler = handler
        inhibitor = SleepInhibitor(bus: bus)
        name = bus.watchName(Logind.name) { [weak self] owner in self?.take(owner) }
    }

    private func take(_ owner: String?) {
        matches = []
        finder = nil
        sleep = nil
        guard let owner else { return }
        let rule = BusMatchRule(
            sender: owner, path: Logind.path, interface: Logind.manager, member: "PrepareForSleep")
        sleep = bus.match(rule) { [weak self] message in
            if let begins = message.arguments.first?.bool { self?.sleepChanged(begins, owner) }
        }
        inhibitor.take(from: owner)
        // A sleep that began or ended while nobody could tell.
        bus.call(.allProperties(of: Logind.manager, at: Logind.path, destination: owner)) { [weak self] reply in
            guard let self, let properties = try? reply.get().first?.dictionary else { return }
            let longest = properties["InhibitDelayMaxUSec"]?.unsigned
            self.inhibitor.longest = longest.map { .microseconds(Int64(clamping: $0)) }
            if let isPreparing = properties["PreparingForSleep"]?.bool { self.sleepChanged(isPreparing, owner) }
        }
        finder = SessionFinder(bus: bus, owner: owner, choice: choice) { [weak self] path in
            guard let path else { return self?.leave() ?? () }
            self?.follow(path, owner)
        }
    }

    /// A session that has ended is not seen, and how it was locked holds until there is another.
    private func leave() {
        matches = []
        state.isActive = false
        tell()
    }

    private func follow(_ path: String, _ owner: String) {
        // Another session was not asked for anything yet; the same one, of a logind that was restarted, was.
        if let followed, path != followed { state.wasAsked = false }
        followed = path
        matches = ["Lock", "Unlock"].map { member in
            let rule = BusMatchRule(sender: owner, path: path, interface: Logind.session, member: member)
            return bus.match(rule) { [weak self] _ in self?.asked(toLock: member == "Lock") }
        }
        let changes = BusMatchRule.propertiesChanged(of: Logind.session, at: path, sender: owner)
        matches.append(bus.match(changes) { [weak self] in self?.take($0.arguments.dropFirst().first?.dictionary) })
        bus.call(.allProperties(of: Logind.session, at: path, destination: owner)) { [weak self] reply in
            let properties = try? reply.get().first?.dictionary
            if let identifier = properties?["Id"]?.text { self?.onFollow?(identifier) }
            self?.take(properties)
        }
    }

    private func asked(toLock: Bool) {
        state.wasAsked = toLock
        tell()
    }

    private func take(_ properties: [String: BusValue]?) {
        guard let properties else { return }
        state.take(properties)
        tell()
    }

    /// Tells what is different from what was told. Handlers see each event with the state that it led to.
    private func tell() {
        let before = told
        told = state
        if !before.isLocked, told.isLocked { handler(.locked) }
        if before.isActive, !told.isActive { handler(.switchedAway) }
        if !before.isActive, told.isActive { handler(.switchedBack) }
        if before.isLocked, !told.isLocked { handler(.unlocked) }
        let new = FollowedSession(path: followed, hint: state.hint)
        guard new != known else { return }
        known = new
        onChange?(new)
    }

    private func sleepChanged(_ begins: Bool, _ owner: String) {
        guard begins != isAsleep else { return }
        isAsleep = begins
        guard !begins else { return handler(.willSleep(inhibitor.handOver())) }
        inhibitor.take(from: owner)
        handler(.didWake)
    }
}
