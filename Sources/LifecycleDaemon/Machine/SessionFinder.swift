import Glibc
import Systemd

/// Whose session is followed.
nonisolated enum SessionChoice: Hashable, Sendable {
    /// The one that a seat shows. For the machine's own daemon, whose apps are no one person's.
    case seat(String)

    /// A user's: the one with that identifier if it is the user's, else the one that logind considers the user's main
    /// one, which is a graphical one if there is any. For a person's own daemon.
    case user(uid_t, session: String?)

    /// What the daemon's instance and environment ask for.
    static func ofProcess(isUser: Bool, environment: [String: String]) -> SessionChoice {
        isUser ? .user(geteuid(), session: environment["XDG_SESSION_ID"]) : .seat("seat0")
    }
}

/// Finds the session to follow, and looks again when logind says that there are other sessions now.
///
/// On a seat the first session of a user that it shows is followed until it is gone, so that another one in front
/// (a greeter, a text console on which somebody logs in) is a switch away and not a new life. A person's own daemon
/// follows what logind calls the user's `Display`, which may be another one after a new login.
final class SessionFinder {
    private let bus: Bus
    private let owner: String
    private let choice: SessionChoice
    private let onChange: (String?) -> Void
    private var found: String?
    /// The object whose property names the session: the seat or the user.
    private var place: String?
    private var matches: [BusSlot?] = []
    private var changes: BusSlot?

    /// - Parameters:
    ///   - owner: logind's unique name.
    ///   - onChange: Called with the object path of a session that was not followed before, with nil when the one that
    ///     was is gone.
    init(bus: Bus, owner: String, choice: SessionChoice, onChange: @escaping (String?) -> Void) {
        self.bus = bus
        self.owner = owner
        self.choice = choice
        self.onChange = onChange
        for member in ["SessionNew", "SessionRemoved", "SeatNew", "UserNew"] {
            let rule = BusMatchRule(sender: owner, path: Logind.path, interface: Logind.manager, member: member)
            matches.append(bus.match(rule) { [weak self] in self?.changed($0) })
        }
        look()
    }

    private func changed(_ message: BusMessage) {
        if message.member == "SessionRemoved", message.arguments.count == 2, message.arguments[1].text == found {
            found = nil
            onChange(nil)
        }
        look()
    }

    private func look() {
        switch choice {
        case .seat(let name): ask("GetSeat", .text(name)) { [weak self] in self?.look(at: $0) }
        case .user(let uid, nil): ask("GetUser", .unsigned(uid)) { [weak self] in self?.look(at: $0) }
        case .user(let uid, let identifier?):
            ask("GetSession", .text(identifier)) { [weak self] path in
                guard let path else { return self?.lookAtUser(uid) ?? () }
                self?.checkUser(of: path, is: uid)
            }
        }
    }

    private func lookAtUser(_ uid: uid_t) {
        ask("GetUser", .unsigned(uid)) { [weak self] in self?.look(at: $0) }
    }

    /// A session's identifier in the environment may be an old one, which is another's now.
    private func checkUser(of path: String, is uid: uid_t) {
        properties(of: Logind.session, at: path) { [weak self] properties in
            guard properties["User"]?.elements?.first?.unsigned == UInt64(uid) else {
                return self?.lookAtUser(uid) ?? ()
            }
            self?.follow(path)
        }
    }

    /// Asks the seat or the user for its session, and to be told when that is another.
    private func look(at path: String?) {
        guard let path else { return }
        let interface = if case .seat = choice { Logind.seat } else { Logind.user }
        if place != path {
            place = path
            changes = bus.match(.propertiesChanged(of: interface, at: path, sender: owner)) { [weak self] _ in
                self?.look(at: path)
            }
        }
        properties(of: interface, at: path) { [weak self] properties in self?.consider(properties) }
    }

    private func consider(_ properties: [String: BusValue]) {
        let name = if case .seat = choice { "ActiveSession" } else { "Display" }
        // The pair of an identifier and a path; "/" stands for none.
        guard let path = properties[name]?.elements?.last?.text, path != "/" else { return }
        guard case .seat = choice else { return follow(path) }
        guard found == nil else { return }
        self.properties(of: Logind.session, at: path) { [weak self] session in
            // Neither a greeter nor a lock screen is where apps are.
            guard let self, self.found == nil, session["Class"]?.text?.hasPrefix("user") == true else { return }
            self.follow(path)
        }
    }

    private func follow(_ path: String) {
        guard path != found else { return }
        found = path
        onChange(path)
    }

    private func ask(_ member: String, _ argument: BusCall.Argument, then: @escaping (String?) -> Void) {
        let call = BusCall(
            owner, path: Logind.path, interface: Logind.manager, member: member, arguments: [argument])
        bus.call(call) { reply in then(try? reply.get().first?.text) }
    }

    private func properties(of interface: String, at path: String, then: @escaping ([String: BusValue]) -> Void) {
        bus.call(.allProperties(of: interface, at: path, destination: owner)) { reply in
            if let values = try? reply.get().first?.dictionary { then(values) }
        }
    }
}
