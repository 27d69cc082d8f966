import LifecycleCore

/// The kind of a record in the state file.
nonisolated enum StateKind: String, CaseIterable, Sendable {
    /// The directory of the apps' control groups.
    case controlGroups = "place"
    case session
    /// The interruptions that end with their clients.
    case bound
    /// The processes of an app's latest launch.
    case launch
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
}

nonisolated extension SavedRecord {
    /// Makes a record of the fields that are not nil.
    init(_ fields: KeyValuePairs<StaticString, String?>) {
        self.init()
        for (name, value) in fields { add(name, value) }
    }
}

/// A line of the state file: a kind and a record, `kind name=value name=value`.
///
/// A line without a line feed was not written in full, and is ignored.
nonisolated enum StateLine {
    static func encode(_ kind: StateKind, _ record: SavedRecord) -> [UInt8] {
        var line: [UInt8] = []
        append(kind, record, to: &line)
        return line
    }

    static func append(_ kind: StateKind, _ record: SavedRecord, to lines: inout [UInt8]) {
        lines += kind.rawValue.utf8
        lines += record.bytes
        lines.append(UInt8(ascii: "\n"))
    }

    /// Splits bytes into the lines that were written in full.
    static func completeLines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        let text = bytes.span
        var (lines, start): ([ArraySlice<UInt8>], Int) = ([], bytes.startIndex)
        for index in text.indices where text[index] == UInt8(ascii: "\n") {
            let end = bytes.startIndex + index
            lines.append(bytes[start..<end])
            start = end + 1
        }
        return lines
    }

    /// Decodes a line without its line feed; nil for a kind of a newer version.
    static func decode(_ line: ArraySlice<UInt8>) -> (StateKind, SavedRecord)? {
        let end = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        guard let kind = StateKind(rawValue: String(decoding: line[..<end], as: UTF8.self)) else { return nil }
        return (kind, SavedRecord(encoded: line[end...]))
    }
}
