import LifecycleCore

/// What an entry of the state file is about.
nonisolated enum StateKind: String, CaseIterable, Sendable {
    /// What the core keeps beside the apps.
    case machine
    /// Where the apps' cgroups are.
    case place
    /// The login session that is followed.
    case session
    /// What the core keeps of an app.
    case app
    /// The processes of an app's latest launch.
    case launch
    /// An app's channel.
    case channel
    /// What was done to what an app gets of the machine, and what it had of its own.
    case resources
    /// What an app without a manifest is.
    case definition
    /// How an app ended, beyond the next boot.
    case exit
    /// When a schedule of an app was due last, beyond the next boot.
    case run
    /// How an app ended that is no longer known, or why it could not be launched.
    case ended
    /// Nothing is to be kept of an app any more.
    case forget
}

/// A line of the state file: a kind and named values, `kind name=value name=value`.
///
/// Values are percent-encoded, so that a line has no other spaces and line feeds than its own. A line that was cut off
/// has no line feed, and is none.
nonisolated enum StateLine {
    static func encode(_ kind: StateKind, _ record: SavedRecord) -> [UInt8] {
        var bytes = Array(kind.rawValue.utf8)
        for field in record.fields {
            bytes.append(UInt8(ascii: " "))
            bytes += field.name.utf8
            bytes.append(UInt8(ascii: "="))
            encode(field.value, into: &bytes)
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The entry of a line without its line feed; nil for one that a newer version may have written.
    static func decode(_ line: ArraySlice<UInt8>) -> (StateKind, SavedRecord)? {
        let words = line.split(separator: UInt8(ascii: " "))
        guard let first = words.first, let kind = StateKind(rawValue: String(decoding: first, as: UTF8.self)) else {
            return nil
        }
        return (kind, SavedRecord(fields: words.dropFirst().compactMap(field)))
    }

    private static func field(_ word: ArraySlice<UInt8>) -> SavedRecord.Field? {
        guard let separator = word.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(decoding: word[..<separator], as: UTF8.self)
        let value = decode(value: word[word.index(after: separator)...])
        return SavedRecord.Field(name: name, value: String(decoding: value, as: UTF8.self))
    }

    // MARK: Percent encoding

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte != UInt8(ascii: "%") && byte != 0x7f
    }

    private static func encode(_ value: String, into bytes: inout [UInt8]) {
        // Almost all of them are.
        guard !value.utf8.allSatisfy(isPlain) else {
            bytes += value.utf8
            return
        }
        for byte in value.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            }
        }
    }

    private static func decode(value: ArraySlice<UInt8>) -> some Collection<UInt8> {
        guard value.contains(UInt8(ascii: "%")) else { return value }
        var bytes: [UInt8] = []
        var rest = value
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(number)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes[...]
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
