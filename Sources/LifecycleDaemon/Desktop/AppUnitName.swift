import Configuration
import Processes

/// The app of a systemd unit, by its name: `app[-LAUNCHER]-ID-RANDOM.scope` or `app[-LAUNCHER]-ID[@RANDOM].service`.
///
/// A `-` in a part is `\x2d` (systemd's "Desktop environment integration"). Snap's scopes are `snap.NAME.APP-UUID.scope`, for the entry
/// `NAME_APP.desktop`. dbus-broker 33 launches a bus name, which is the id, in `dbus-:BROKER-NAME@NUMBER.service`.
struct AppUnitName: Hashable {
    /// The kind of a unit, which decides the interface of its object.
    enum Kind: String {
        case scope, service
    }

    /// The name of the unit.
    let unit: String
    let kind: Kind
    /// The desktop id of the app.
    let id: String
    /// The program that started the unit, such as `gnome` or `flatpak`; nil if the name does not say.
    let launcher: String?
    /// A Boolean value that indicates whether the session itself starts the unit, for an entry in an autostart directory.
    let isAutostarted: Bool
    /// The process that a scope was made for, if its name has a number at the end.
    let process: ProcessID?

    /// The longest name of a unit, in bytes.
    private static let lengthLimit = 255

    /// Parses the name of a unit; nil if it is that of no app, or its id is no app's.
    init?(_ unit: String) {
        let bytes = Array(unit.utf8)
        guard bytes.count <= Self.lengthLimit, let dot = bytes.lastIndex(of: UInt8(ascii: ".")),
            let kind = Kind(rawValue: String(decoding: bytes[(dot + 1)...], as: UTF8.self))
        else { return nil }
        let name = bytes[..<dot]
        let parts =
            if name.starts(with: "snap.".utf8) {
                Self.snap(name, kind)
            } else if name.starts(with: "dbus-".utf8) {
                Self.busService(name, kind)
            } else {
                Self.app(name, kind)
            }
        guard let parts, let text = String(validating: parts.id, as: UTF8.self) else { return nil }
        let id = DesktopEntries.id(in: text)
        guard AppIdentifier.isValid(id) else { return nil }
        self.unit = unit
        self.kind = kind
        self.id = id
        launcher = parts.launcher.flatMap { String(validating: $0, as: UTF8.self) }
        isAutostarted = parts.isAutostarted
        process = parts.process
    }

    /// A Boolean value that indicates whether the unit is that of a name on the session bus, which need not be an app's.
    var isBusService: Bool { launcher == Self.busLauncher }

    private static let busLauncher = "dbus"

    private struct Parts {
        var launcher: [UInt8]?
        var id: [UInt8]
        var isAutostarted = false
        var process: ProcessID?
    }

    private static func app(_ name: ArraySlice<UInt8>, _ kind: Kind) -> Parts? {
        let instance = kind == .service ? name.firstIndex(of: UInt8(ascii: "@")) : nil
        var words = name[..<(instance ?? name.endIndex)]
            .split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard words.first?.elementsEqual("app".utf8) ?? false else { return nil }
        words.removeFirst()
        var process: ProcessID?
        switch kind {
        case .scope: process = words.popLast().flatMap { ProcessID(String(decoding: $0, as: UTF8.self)) }
        // Before systemd 250, services had the random part of scopes.
        case .service:
            if instance == nil, words.count > 1, words.last?.allSatisfy(\.isDigit) ?? false { words.removeLast() }
        }
        // An id with a bare hyphen breaks the rule; the first word is taken for the launcher then.
        guard !words.isEmpty, words.allSatisfy({ !$0.isEmpty }) else { return nil }
        let launcher = words.count > 1 ? words.removeFirst() : nil
        guard let id = unescape(words.joined(separator: [UInt8(ascii: "-")]))
        else { return nil }
        let isAutostarted = instance.map { name[($0 + 1)...].elementsEqual("autostart".utf8) } ?? false
        return Parts(launcher: launcher.flatMap(unescape), id: id, isAutostarted: isAutostarted, process: process)
    }

    private static func busService(_ name: ArraySlice<UInt8>, _ kind: Kind) -> Parts? {
        let words = name.split(separator: UInt8(ascii: "-"), maxSplits: 2, omittingEmptySubsequences: false)
        guard kind == .service, words.count == 3, words[1].first == UInt8(ascii: ":"),
            let instance = words[2].firstIndex(of: UInt8(ascii: "@")), let id = unescape(words[2][..<instance])
        else { return nil }
        return Parts(launcher: Array(busLauncher.utf8), id: id)
    }

    private static func snap(_ name: ArraySlice<UInt8>, _ kind: Kind) -> Parts? {
        // A service of a snap is a daemon.
        guard kind == .scope else { return nil }
        let words = name.dropFirst("snap.".utf8.count)
        let uuidLength = 36
        guard words.count > uuidLength + 1,
            words.suffix(uuidLength).allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        let rest = words.dropLast(uuidLength)
        guard let separator = rest.last, [UInt8(ascii: "-"), UInt8(ascii: ".")].contains(separator) else { return nil }
        let pair = rest.dropLast().split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard pair.count == 2, pair.allSatisfy({ !$0.isEmpty }) else { return nil }
        return Parts(launcher: Array("snap".utf8), id: Array(pair[0]) + [UInt8(ascii: "_")] + pair[1])
    }

    /// Returns the bytes that `\xHH` stands for; nil for another use of the backslash.
    private static func unescape(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var rest = Array(text)[...]
        var found: [UInt8] = []
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                found.append(byte)
                continue
            }
            guard rest.popFirst() == UInt8(ascii: "x"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            found.append(value)
        }
        return found
    }
}

extension AppUnitName {
    /// The path of the unit's object in systemd: each byte besides letters and digits is written `_HH`.
    var path: String {
        var path = Array("/org/freedesktop/systemd1/unit/".utf8)
        for (index, byte) in unit.utf8.enumerated() {
            if byte.isLetter || byte.isDigit && index > 0 {
                path.append(byte)
            } else {
                let digits = String(byte, radix: 16).utf8
                path += "_".utf8
                if digits.count == 1 { path += "0".utf8 }
                path += digits
            }
        }
        return String(decoding: path, as: UTF8.self)
    }

    /// The interface of the unit's object that has its control group.
    var interface: String {
        switch kind {
        case .scope: "org.freedesktop.systemd1.Scope"
        case .service: "org.freedesktop.systemd1.Service"
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}
