import LifecycleCore

/// The kind of a record in the state file.
nonisolated enum StateKind: String, CaseIterable, Sendable {
    /// The state of the core besides the apps.
    case machine
    /// The directory of the apps' control groups.
    case place
    case session
    /// The state of an app in the core.
    case app
    /// The processes of an app's latest launch.
    case launch
    case channel
    /// The resource values of an app, set and own.
    case resources
    /// The definition of an app without a manifest.
    case definition
    /// The exit of an app, beyond the next boot.
    case exit
    /// The last run of a schedule, beyond the next boot.
    case run
    /// The exit of an app that was forgotten, or the failure of its launch.
    case ended
    /// The end of the records of an app.
    case forget
    /// A transition to announce.
    case transition
    /// The announcement of every transition before.
    case announced
}

nonisolated extension SavedRecord {
    /// Makes a record of the fields that are not nil.
    init(_ fields: KeyValuePairs<String, String?>) {
        self.init()
        for (name, value) in fields { add(name, value) }
    }
}

/// A line of the state file: a kind and named values, `kind name=value name=value`.
///
/// Values are percent-encoded, so that they contain no space and no line feed. A line without a line feed was not written in
/// full, and is ignored.
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

    /// Splits bytes into the lines that were written in full.
    static func completeLines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    }

    /// Decodes a line without its line feed; nil for a kind of a newer version.
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
        // Almost all values are plain.
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
