import Glibc
import LifecycleTypes
import Systemd

/// GNOME Shell, by its extension `lifed@org.lifed` (`Sources/GNOMEExtension`), which owns a name on the session bus.
///
/// The source fails if the name has no owner at its start. Later, the name is without an owner while the extension is
/// disabled: the source tells no windows then, and waits for it.
final class GNOMESource: Source {
    private static let busName = "org.lifed.Windows1"
    private static let path = "/org/lifed/Windows1"

    let name = "GNOME Shell"
    private let bus: Bus
    private var owner: BusName?
    private var changes: BusSlot?
    /// The newest observation that was not read.
    private var unread: Observation?
    /// The bus has said who owns the name.
    private var wasAnswered = false
    /// The reason why the source has ended.
    private var end: SourceLost?

    /// Connects to the session bus.
    init(on loop: EventLoop) throws(SourceLost) {
        guard let address = Bus.sessionAddress else {
            throw SourceLost(reason: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
        }
        // Bus would wait for a socket that does not exist.
        let prefix = "unix:path="
        if address.hasPrefix(prefix) {
            let path = address.dropFirst(prefix.count).prefix { $0 != "," && $0 != ";" }
            guard unsafe access(String(path), F_OK) == 0 else { throw SourceLost(reason: "there is no session bus") }
        }
        weak var source: GNOMESource?
        do throws(SystemdError) {
            bus = try Bus(loop: loop, address: address) { source?.end = SourceLost(reason: $0) }
        } catch {
            throw SourceLost(error)
        }
        source = self
        owner = bus.watchName(Self.busName) { [weak self] owner in self?.setOwner(owner) }
    }

    func read() throws(SourceLost) -> Observation? {
        if wasAnswered, !bus.isConnected { throw SourceLost(reason: "the session bus has closed the connection") }
        if !wasAnswered, let owner, owner.hasAnswer {
            wasAnswered = true
            guard owner.owner != nil else {
                throw SourceLost(
                    reason: "the extension lifed@org.lifed of GNOME Shell is not enabled",
                    remedy: "run 'gnome-extensions enable lifed@org.lifed'")
            }
        }
        if let end { throw end }
        defer { unread = nil }
        return unread
    }

    // MARK: The extension

    private func setOwner(_ owner: String?) {
        guard let owner else {
            changes = nil
            unread = Observation(extensionWindows: [])
            return
        }
        let rule = BusMatchRule(sender: owner, path: Self.path, interface: Self.busName, member: "Changed")
        changes = bus.match(rule) { [weak self] message in self?.read(message.arguments) }
        // Called after the rule is in place, so that no change falls in between.
        bus.call(BusCall(owner, path: Self.path, interface: Self.busName, member: "List")) { [weak self] reply in
            // An extension that has just gone does not answer.
            guard case .success(let values) = reply else { return }
            self?.read(values)
        }
    }

    private func read(_ values: [BusValue]) {
        if let observation = Observation(extensionValues: values) {
            unread = observation
        } else {
            end = SourceLost(
                reason: "the extension lifed@org.lifed says what is not understood", remedy: "log out and in again")
        }
    }
}

/// A window of the interface `org.lifed.Windows1`.
private struct ExtensionWindow {
    let item: Item
    let isVisible: Bool
    let isPointed: Bool

    @MainActor init?(_ value: BusValue) {
        guard let fields = value.elements, fields.count >= 6, case .integer(let number) = fields[0], number > 0,
            let process = fields[1].unsigned, let app = fields[2].text, let visibility = fields[3].text,
            let isPointed = fields[4].bool, let title = fields[5].text
        else { return nil }
        item = Item(number: number, process: Int64(process), appID: app, title: title)
        isVisible = visibility == "visible"
        self.isPointed = isPointed
    }
}

extension Observation {
    /// Reads the values of the interface `org.lifed.Windows1`; nil for anything else.
    @MainActor init?(extensionValues values: [BusValue]) {
        guard values.count == 2, case .integer(let number) = values[0], let list = values[1].elements else {
            return nil
        }
        var windows: [ExtensionWindow] = []
        for value in list.prefix(Self.limit) {
            guard let window = ExtensionWindow(value) else { return nil }
            windows.append(window)
        }
        self.init(extensionWindows: windows)
        // A window that has just gone is not in the list; another one follows.
        let focused = windows.first { $0.item.key.number == number }
        focus = number == 0 ? .nothing : focused.map { .item($0.item) } ?? .unknown
    }

    fileprivate init(extensionWindows windows: [ExtensionWindow]) {
        self.init(uses: [
            .pointed: windows.filter(\.isPointed).map(\.item), .visible: windows.filter(\.isVisible).map(\.item),
        ])
    }
}
