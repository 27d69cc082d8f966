import Glibc
import Systemd
import WindowLines

/// GNOME Shell, by its extension `lifed@org.lifed` (`Sources/GNOMEExtension`), which owns a name on the session bus.
///
/// The source fails if the name has no owner at its start. Later, the name is without an owner while the extension is
/// disabled: the source tells no windows then, and waits for it.
@MainActor final class GNOMESource: @MainActor WindowSource {
    private static let name = "org.lifed.Windows1"
    private static let path = "/org/lifed/Windows1"

    private let loop: EventLoop
    private let bus: Bus
    private var owner: BusName?
    private var changes: BusSlot?
    /// The newest line; nil before the first answer of the extension.
    private var line: WindowLine?
    private var hasNews = false
    /// The bus was asked whether the extension is there.
    private var isAsked = false
    /// The reason why the source has ended.
    private var end: SourceEnd?

    /// Connects to the session bus.
    init() throws(SourceEnd) {
        guard let address = Bus.sessionAddress else {
            throw SourceEnd(reason: "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
        }
        // Bus would wait for a socket that does not exist.
        let prefix = "unix:path="
        if address.hasPrefix(prefix) {
            let path = address.dropFirst(prefix.count).prefix { $0 != "," && $0 != ";" }
            guard unsafe access(String(path), F_OK) == 0 else { throw SourceEnd(reason: "there is no session bus") }
        }
        weak var source: GNOMESource?
        do throws(SystemdError) {
            loop = try EventLoop()
            bus = try Bus(loop: loop, address: address) { source?.end = SourceEnd(reason: $0) }
        } catch {
            throw SourceEnd(reason: error.description)
        }
        source = self
        owner = bus.watchName(Self.name) { [weak self] owner in self?.setOwner(owner) }
    }

    var descriptor: CInt { loop.descriptor }

    /// libsystemd waits for the bus itself.
    var hasUnsent: Bool { false }

    func handleEvents() throws(SourceEnd) -> Bool {
        try dispatch()
        if bus.isConnected, !isAsked {
            askForOwner()
            try dispatch()
        }
        if isAsked, !bus.isConnected { throw SourceEnd(reason: "the session bus has closed the connection") }
        if let end { throw end }
        defer { hasNews = false }
        return hasNews
    }

    func currentLine() -> WindowLine? { line }

    private func dispatch() throws(SourceEnd) {
        do throws(SystemdError) {
            try loop.dispatchReady()
        } catch {
            throw SourceEnd(reason: error.description)
        }
    }

    // MARK: The extension

    /// Ends the source if the extension is not there.
    private func askForOwner() {
        isAsked = true
        let busName = "org.freedesktop.DBus"
        let call = BusCall(
            busName, path: "/org/freedesktop/DBus", interface: busName, member: "GetNameOwner",
            arguments: [.text(Self.name)])
        bus.call(call) { [weak self] reply in
            guard case .failure = reply else { return }
            self?.end = SourceEnd(
                reason:
                    "the extension lifed@org.lifed of GNOME Shell is not enabled; run 'gnome-extensions enable lifed@org.lifed'"
            )
        }
    }

    private func setOwner(_ owner: String?) {
        guard let owner else {
            changes = nil
            setLine(WindowLine())
            return
        }
        let rule = BusMatchRule(sender: owner, path: Self.path, interface: Self.name, member: "Changed")
        changes = bus.match(rule) { [weak self] message in self?.read(message.arguments) }
        // Called after the rule is in place, so that no change falls in between.
        bus.call(BusCall(owner, path: Self.path, interface: Self.name, member: "List")) { [weak self] reply in
            // An extension that has just gone does not answer.
            guard case .success(let values) = reply else { return }
            self?.read(values)
        }
    }

    private func read(_ values: [BusValue]) {
        guard let line = WindowLine(extensionValues: values) else {
            end = SourceEnd(reason: "the extension lifed@org.lifed says what is not understood; log out and in again")
            return
        }
        setLine(line)
    }

    private func setLine(_ new: WindowLine) {
        line = new
        hasNews = true
    }
}

extension WindowLine {
    /// Reads the values of the interface `org.lifed.Windows1`; nil for anything else.
    @MainActor init?(extensionValues values: [BusValue]) {
        guard values.count == 2, case .integer(let number) = values[0], let list = values[1].elements else {
            return nil
        }
        self.init()
        focus = number > 0 ? .window(number) : number == 0 ? .nothing : .unknown
        for value in list.prefix(Self.windowLimit) {
            guard let window = Window(extensionValue: value) else { return nil }
            windows.append(window)
        }
    }
}

extension WindowLine.Window {
    @MainActor fileprivate init?(extensionValue value: BusValue) {
        guard let fields = value.elements, fields.count >= 6, case .integer(let number) = fields[0], number > 0,
            let process = fields[1].unsigned, let app = fields[2].text, let word = fields[3].text,
            let isPointed = fields[4].bool, let title = fields[5].text
        else { return nil }
        self.init(
            number: number, process: Int64(process), isAttested: true, appID: app,
            visibility: WindowLine.Visibility(rawValue: word) ?? .hidden, title: title, isPointed: isPointed)
    }
}
