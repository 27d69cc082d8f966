/// Watches who owns a well-known name. See `Bus.watchName`.
///
/// The owner's unique name is what to match signals by. The bus itself attests it: `org.freedesktop.DBus` is a name
/// that no client can send by.
@MainActor public final class BusName {
    /// The unique name of the owner, if there is one.
    public private(set) var owner: String?

    /// Whether the bus has said who owns the name, or that nobody does, since it was connected to.
    private(set) var hasAnswer = false

    private let name: String
    private weak var bus: Bus?
    private let onOwner: (String?) -> Void
    private var changes: BusSlot?

    init(_ name: String, bus: Bus, onOwner: @escaping (String?) -> Void) {
        self.name = name
        self.bus = bus
        self.onOwner = onOwner
    }

    func connected() {
        let busName = "org.freedesktop.DBus"
        let rule = BusMatchRule(
            sender: busName, path: "/org/freedesktop/DBus", interface: busName, member: "NameOwnerChanged",
            argument: name)
        changes = bus?.match(rule) { [weak self] message in
            guard message.arguments.count == 3 else { return }
            self?.take(message.arguments[2].text)
        }
        // Asked after the rule is in place, so that no change falls in between.
        let call = BusCall(
            busName, path: "/org/freedesktop/DBus", interface: busName, member: "GetNameOwner", arguments: [.text(name)]
        )
        bus?.call(call) { [weak self] reply in self?.take(try? reply.get().first?.text) }
    }

    func disconnected() {
        changes = nil
        hasAnswer = false
        take(owner: nil)
    }

    private func take(_ name: String?) {
        hasAnswer = true
        take(owner: name.flatMap { $0.isEmpty ? nil : $0 })
    }

    private func take(owner new: String?) {
        guard new != owner else { return }
        owner = new
        onOwner(new)
    }
}
