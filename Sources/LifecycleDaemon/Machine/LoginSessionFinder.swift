import Glibc
import Systemd

/// The session to follow.
nonisolated enum LoginSessionChoice: Hashable, Sendable {
    /// The session that a seat shows; for the system instance.
    case seat(String)

    /// The session of a user; for that user's daemon. Either the session with the identifier, if it is the user's, or the
    /// user's `Display` of logind, a graphical one if there is any.
    case user(uid_t, session: String?)

    static func ofProcess(isUser: Bool, environment: [String: String]) -> LoginSessionChoice {
        isUser ? .user(geteuid(), session: environment["XDG_SESSION_ID"]) : .seat("seat0")
    }
}

/// Finds the session to follow, and searches again when sessions begin or end.
///
/// On a seat the first session of a user is followed until it ends: another one that the seat shows (a greeter, a text
/// console) is a switch away. The `Display` of a user may be another session after a new login.
final class LoginSessionFinder {
    private let bus: Bus
    private let owner: String
    private let choice: LoginSessionChoice
    private let onChange: (String?) -> Void
    private var found: String?
    /// The seat or the user, whose property names the session.
    private var watched: String?
    private var matches: [BusSlot?] = []
    private var changes: BusSlot?

    /// - Parameters:
    ///   - owner: logind's unique name.
    ///   - onChange: Called with the object path of a new session, and with nil when the session has ended.
    init(bus: Bus, owner: String, choice: LoginSessionChoice, onChange: @escaping (String?) -> Void) {
        self.bus = bus
        self.owner = owner
        self.choice = choice
        self.onChange = onChange
        for member in ["SessionNew", "SessionRemoved", "SeatNew", "UserNew"] {
            let rule = BusMatchRule(sender: owner, path: Logind.path, interface: Logind.manager, member: member)
            matches.append(bus.match(rule) { [weak self] in self?.changed($0) })
        }
        search()
    }

    private func changed(_ message: BusMessage) {
        if message.member == "SessionRemoved", message.arguments.count == 2, message.arguments[1].text == found {
            found = nil
            onChange(nil)
        }
        search()
    }

    private func search() {
        switch choice {
        case .seat(let name): ask("GetSeat", .text(name)) { [weak self] in self?.readSession(of: $0) }
        case .user(let uid, nil): searchUser(uid)
        case .user(let uid, let identifier?):
            ask("GetSession", .text(identifier)) { [weak self] path in
                guard let path else { return self?.searchUser(uid) ?? () }
                self?.checkUser(of: path, is: uid)
            }
        }
    }

    private func searchUser(_ uid: uid_t) {
        ask("GetUser", .unsigned(uid)) { [weak self] in self?.readSession(of: $0) }
    }

    private func checkUser(of path: String, is uid: uid_t) {
        properties(of: Logind.session, at: path) { [weak self] properties in
            guard properties["User"]?.elements?.first?.unsigned == UInt64(uid) else {
                return self?.searchUser(uid) ?? ()
            }
            self?.follow(path)
        }
    }

    /// Reads the session of the seat or the user, and watches its property.
    private func readSession(of path: String?) {
        guard let path else { return }
        let interface = if case .seat = choice { Logind.seat } else { Logind.user }
        if watched != path {
            watched = path
            changes = bus.match(.propertiesChanged(of: interface, at: path, sender: owner)) { [weak self] _ in
                self?.readSession(of: path)
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
            // Apps are neither in a greeter nor in a lock screen.
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
