/// The types of values: Desktop Entry Specification 1.5, section 4.
extension DesktopEntryFile {
    /// A string with its escapes resolved; nil where the key is not there, or is empty.
    func string(_ key: String) throws(DesktopEntryDefect) -> String? {
        guard let value = try value(of: key), !value.bytes.isEmpty else { return nil }
        return try Self.resolved(value)
    }

    /// A string in the language of a person who reads it.
    func localizedString(_ key: String, _ locale: LocaleName) throws(DesktopEntryDefect) -> String? {
        for name in locale.matches {
            if let text = try string("\(key)[\(name)]") { return text }
        }
        return try string(key)
    }

    /// True or false; false where the key is not there.
    func boolean(_ key: String) throws(DesktopEntryDefect) -> Bool {
        guard let value = try value(of: key) else { return false }
        // The figures are those of entries from before the specification.
        if value.bytes.elementsEqual("true".utf8) || value.bytes.elementsEqual("1".utf8) { return true }
        if value.bytes.elementsEqual("false".utf8) || value.bytes.elementsEqual("0".utf8) { return false }
        throw DesktopEntryDefect(
            line: value.line,
            message: "\(key): expected true or false, found \(String(decoding: value.bytes, as: UTF8.self).quoted)")
    }

    /// Strings with a semicolon between any two of them, and perhaps behind the last.
    func strings(_ key: String) throws(DesktopEntryDefect) -> [String] {
        guard let value = try value(of: key) else { return [] }
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

    /// The escapes are \s, \n, \t, \r and \\; any other is kept as it is, as other readers do.
    private static func resolved(_ value: Value) throws(DesktopEntryDefect) -> String {
        var bytes: [UInt8] = []
        var rest = value.bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escape = rest.popFirst() else {
                throw DesktopEntryDefect(line: value.line, message: "ends in a backslash, which escapes nothing")
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
