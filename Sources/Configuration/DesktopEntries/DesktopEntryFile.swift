/// The main group of a desktop entry, as it is written: Desktop Entry Specification 1.5, section 3.
///
/// It is gone over by bytes, because a separator and an accent after it are one character. Nothing is read after the main
/// group: what follows are actions, which do not concern the start of an app.
struct DesktopEntryFile {
    /// The keys that a file keeps, besides those for lifed.
    enum Key: String, CaseIterable {
        case type = "Type"
        case name = "Name"
        case exec = "Exec"
        case tryExec = "TryExec"
        case path = "Path"
        case icon = "Icon"
        case mimeType = "MimeType"
        case categories = "Categories"
        case hidden = "Hidden"
        case noDisplay = "NoDisplay"
        case terminal = "Terminal"
        case dBusActivatable = "DBusActivatable"
        case startupWMClass = "StartupWMClass"
    }

    /// The name of the group that every entry begins with.
    static let mainGroup = "Desktop Entry"

    /// The value of one line.
    struct Value: Equatable {
        let line: Int

        /// As it is written, escapes included.
        let bytes: [UInt8]
    }

    /// By the key, with the locale in brackets where the line has one.
    private var values: [String: Value] = [:]

    /// The lines that say something for the second time.
    private var repetitions: [String: Int] = [:]

    /// Where the group begins.
    private(set) var line = 1

    /// Reads a text, which is not trusted in any way.
    init(_ bytes: [UInt8]) throws(Defect) {
        var number = 0
        var begin: Int?
        var rest: ArraySlice<UInt8>? = bytes[...]
        while let now = rest {
            let end = now.firstIndex(of: UInt8(ascii: "\n"))
            var text = now[..<(end ?? now.endIndex)]
            rest = end.map { now[($0 + 1)...] }
            number += 1
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
            guard let first = text.first(where: { !$0.isBlank }), text.first != UInt8(ascii: "#") else { continue }
            if first == UInt8(ascii: "[") {
                // Only one group is of interest, and it has to be the first.
                if begin != nil { break }
                guard text.elementsEqual("[\(Self.mainGroup)]".utf8) else { throw Self.notTheMainGroup(number) }
                begin = number
                continue
            }
            guard begin != nil else { throw Self.notTheMainGroup(number) }
            try parseLine(text, number)
        }
        guard let begin else { throw Self.notTheMainGroup(nil) }
        line = begin
    }

    /// Returns the value of a key in the main group; nil if it has none.
    func value(of key: Key) throws(Defect) -> Value? { try value(named: key.rawValue) }

    func value(named name: String) throws(Defect) -> Value? {
        if let line = repetitions[name] {
            throw Defect(line: line, message: "\(name) is there twice; remove one")
        }
        return values[name]
    }

    /// Returns the keys that begin with a prefix, in the order of the lines.
    func keys(withPrefix prefix: String) -> [String] {
        values.filter { $0.key.utf8.starts(with: prefix.utf8) }.sorted { $0.value.line < $1.value.line }.map(\.key)
    }

    private mutating func parseLine(_ text: ArraySlice<UInt8>, _ number: Int) throws(Defect) {
        guard let separator = text.firstIndex(of: UInt8(ascii: "=")) else {
            throw Defect(line: number, message: "the line is no group, comment or Key=Value; correct it")
        }
        let name = text[..<separator].trimmed
        guard Self.isKey(name) else {
            throw Defect(
                line: number, message: "the key is not valid; use letters, digits and -, and perhaps a [locale]")
        }
        // Translations into other languages are the better part of most entries.
        guard Self.isOfInterest(name) else { return }
        let value = text[(separator + 1)...]
        guard !value.contains(0) else {
            throw Defect(
                line: number, message: "\(String(decoding: name, as: UTF8.self)) has the character NUL; remove it")
        }
        let key = String(decoding: name, as: UTF8.self)
        if values[key] != nil { repetitions[key] = repetitions[key] ?? number }
        values[key] = Value(line: number, bytes: Array(value.trimmed))
    }

    private static let names = Key.allCases.map { Array($0.rawValue.utf8) }

    private static let ownPrefix = Array(LifedKeys.prefix.utf8)

    private static func isOfInterest(_ name: ArraySlice<UInt8>) -> Bool {
        let bare = name.prefix { $0 != UInt8(ascii: "[") }
        return bare.starts(with: ownPrefix) || names.contains { $0.count == bare.count && $0.elementsEqual(bare) }
    }

    private static func isKey(_ name: ArraySlice<UInt8>) -> Bool {
        let bare = name.prefix { $0 != UInt8(ascii: "[") }
        let locale = name[bare.endIndex...]
        guard !bare.isEmpty, bare.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }) else { return false }
        guard !locale.isEmpty else { return true }
        return locale.count > 2 && locale.last == UInt8(ascii: "]")
            && locale.dropFirst().dropLast().allSatisfy { $0.isLetterOrDigit || "_.@-".utf8.contains($0) }
    }

    private static func notTheMainGroup(_ line: Int?) -> Defect {
        Defect(line: line, message: "it does not begin with the group [\(mainGroup)]; add the group")
    }
}

/// The types of values: Desktop Entry Specification 1.5, section 4.
extension DesktopEntryFile {
    /// Returns a string with its escapes resolved; nil if the key is not there, or is empty.
    func string(_ key: Key) throws(Defect) -> String? { try string(named: key.rawValue) }

    func string(named name: String) throws(Defect) -> String? {
        guard let value = try value(named: name), !value.bytes.isEmpty else { return nil }
        return try Self.resolved(value)
    }

    /// Returns a string in the reader's language.
    func localizedString(_ key: Key, _ locale: LocaleName) throws(Defect) -> String? {
        for name in locale.matches {
            if let text = try string(named: "\(key.rawValue)[\(name)]") { return text }
        }
        return try string(key)
    }

    /// Returns a Boolean value; false if the key is not there.
    func boolean(_ key: Key) throws(Defect) -> Bool {
        guard let value = try value(of: key) else { return false }
        // The digits are those of entries from before the specification.
        if value.bytes.elementsEqual("true".utf8) || value.bytes.elementsEqual("1".utf8) { return true }
        if value.bytes.elementsEqual("false".utf8) || value.bytes.elementsEqual("0".utf8) { return false }
        throw Defect(
            line: value.line,
            message:
                "\(key.rawValue) is \(String(decoding: value.bytes, as: UTF8.self).quoted); expected true or false")
    }

    /// Strings with a semicolon between any two of them, and perhaps after the last.
    func strings(_ key: Key) throws(Defect) -> [String] { try strings(named: key.rawValue) }

    func strings(named name: String) throws(Defect) -> [String] {
        guard let value = try value(named: name) else { return [] }
        var parts: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in value.bytes {
            if byte == UInt8(ascii: ";"), !isEscaped {
                parts.append([])
                continue
            }
            // The escape of a semicolon is none of a string; every other is left to that.
            if byte == UInt8(ascii: ";") { parts[parts.count - 1].removeLast() }
            parts[parts.count - 1].append(byte)
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        var strings: [String] = []
        for part in parts where !part.isEmpty {
            strings.append(try Self.resolved(Value(line: value.line, bytes: part)))
        }
        return strings
    }

    /// Returns a value without its escapes \s, \n, \t, \r and \\. Any other stays as it is, as in other readers.
    private static func resolved(_ value: Value) throws(Defect) -> String {
        var bytes: [UInt8] = []
        var rest = value.bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escape = rest.popFirst() else {
                throw Defect(
                    line: value.line, message: "a value ends in a backslash, which escapes nothing; remove it")
            }
            switch escape {
            case UInt8(ascii: "s"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
            case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
            case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
            case UInt8(ascii: "\\"): bytes.append(escape)
            default: bytes += [byte, escape]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The language of the reader: `lang_COUNTRY.ENCODING@MODIFIER`, as in setlocale(3).
public struct LocaleName: Hashable, Sendable {
    /// The locales to look for in a desktop entry, the best first: Desktop Entry Specification 1.5, section 5.
    let matches: [String]

    /// Takes a locale's name apart; no name, C and POSIX have nothing to look for.
    public init(_ name: String) {
        let bytes = Array(name.utf8)
        let isName =
            !bytes.isEmpty && bytes.count <= 64
            && bytes.allSatisfy { $0.isLetterOrDigit || "_.@-".utf8.contains($0) }
        guard isName, name != "C", name != "POSIX", !bytes.starts(with: "C.".utf8) else {
            matches = []
            return
        }
        let (rest, modifier) = Self.halves(of: bytes[...], at: UInt8(ascii: "@"))
        let (place, _) = Self.halves(of: rest, at: UInt8(ascii: "."))
        let (language, country) = Self.halves(of: place, at: UInt8(ascii: "_"))
        let text = String(decoding: language, as: UTF8.self)
        let withCountry = country.map { "\(text)_\(String(decoding: $0, as: UTF8.self))" }
        let suffix = modifier.map { "@\(String(decoding: $0, as: UTF8.self))" }
        matches = [
            withCountry.flatMap { name in suffix.map { name + $0 } }, withCountry, suffix.map { text + $0 }, text,
        ].compactMap { $0 }
    }

    /// The locale of texts, for a process with these variables.
    public init(environment: [String: String]) {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
        self.init(names.first { !$0.isEmpty } ?? "")
    }

    private static func halves(
        of bytes: ArraySlice<UInt8>, at separator: UInt8
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let place = bytes.firstIndex(of: separator) else { return (bytes, nil) }
        return (bytes[..<place], bytes[(place + 1)...])
    }
}
