import LifecycleCore
import Processes

/// A type of the daemon whose saved record has one table for writing and reading.
protocol SavedTable {
    /// Writes the values, or reads them: the table of the type. A missing or invalid value keeps its default.
    mutating func code(with coder: inout SavedCoder)
}

extension SavedTable {
    /// The record of the values.
    var saved: SavedRecord {
        var (writer, values) = (SavedCoder(), self)
        values.code(with: &writer)
        return writer.record
    }

    /// Reads the values of a record.
    mutating func restore(_ record: SavedRecord) {
        var reader = SavedCoder(reading: record)
        code(with: &reader)
    }
}

// Without a valid value, the owner of these keeps its default.
nonisolated extension SavedCoder {
    mutating func item<Item: SavedItem>(_ name: StaticString, _ value: inout Item) {
        value = item(name, value) ?? value
    }

    mutating func word<Word: RawRepresentable<String>>(_ name: StaticString, _ value: inout Word) {
        value = word(name, value) ?? value
    }

    /// Writes or reads the number of a user.
    mutating func user(_ name: StaticString, _ value: inout UInt32?) {
        value = number(name, value.map { UInt64($0) }).flatMap { UInt32(exactly: $0) }
    }
}

// MARK: - Values

nonisolated extension LaunchToken: SavedItem {
    static func code(_ item: LaunchToken?, with parts: inout PartCoder) -> LaunchToken? {
        parts.rest(item?.rawValue).flatMap { LaunchToken(rawValue: $0) }
    }
}

nonisolated extension ProcessIdentity: SavedItem {
    static func code(_ item: ProcessIdentity?, with parts: inout PartCoder) -> ProcessIdentity? {
        guard let number = parts.number(item.map { UInt64($0.pid) }), let start = parts.number(item?.startTime),
            let pid = ProcessID(exactly: number), pid > 1
        else { return nil }
        return ProcessIdentity(pid: pid, startTime: start)
    }
}

nonisolated extension WaitStatus: SavedItem {
    /// Writes or reads the kernel's account of an end. The process has ended whatever the parts say.
    static func code(_ item: Self?, with parts: inout PartCoder) -> Self? {
        var (kind, value): (String?, Int32?)
        switch item {
        case .exited(let code): (kind, value) = ("code", code)
        case .killed(let signal, let dumpedCore): (kind, value) = (dumpedCore ? "core" : "signal", signal.rawValue)
        case .unknown, nil: kind = "unknown"
        }
        kind = parts.text(kind)
        value = parts.rest(value.map { String($0) }).flatMap { Int32($0) }
        switch (kind, value) {
        case ("code", let code?): return .exited(code: code)
        case ("signal", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: false)
        case ("core", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: true)
        default: return .unknown
        }
    }
}

nonisolated extension Confinement: SavedItem {
    static func code(_ item: Confinement?, with parts: inout PartCoder) -> Confinement? {
        parts.rest(item?.text).map { Confinement(text: $0) }
    }
}

/// The resource values of an app, set and own.
nonisolated struct SavedResources: Equatable {
    let record: ResourceRecord
    /// The instant of the launch whose processes have the values; nil if it is not known.
    let launched: Instant?

    init(record: ResourceRecord, launched: Instant?) { (self.record, self.launched) = (record, launched) }

    var saved: SavedRecord {
        var numbers: [String] = []
        record.forEachNumber { numbers.append(String(Int64(bitPattern: $0))) }
        return SavedRecord([
            "launched": launched.map { String($0.microseconds) }, "numbers": numbers.joined(separator: ","),
        ])
    }

    /// Reads a record; nil if it says nothing of the values.
    init?(_ saved: SavedRecord) {
        var numbers = (saved["numbers"] ?? "").split(separator: ",")[...]
        let record = ResourceRecord { numbers.popFirst().flatMap { Int64($0) }.map { UInt64(bitPattern: $0) } }
        guard let record else { return nil }
        self.init(
            record: record, launched: saved["launched"].flatMap { UInt64($0) }.map { Instant(microseconds: $0) })
    }
}
