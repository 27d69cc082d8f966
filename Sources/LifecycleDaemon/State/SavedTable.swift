import LifecycleCore
import Processes

/// A type whose saved record, as text, has one table for writing and reading.
protocol SavedTable {
    /// Writes the values, or reads them: the table of the type. A missing or invalid value keeps its default.
    ///
    /// - Parameter coder: The writer or the reader. The id of an app comes first, outside the table.
    mutating func code(with coder: inout some SavedCoder)
}

extension SavedTable {
    /// Returns the record of the values.
    ///
    /// - Parameter app: The app that the record is about; nil for none.
    func saved(_ app: AppID? = nil) -> SavedRecord {
        var (writer, values) = (RecordWriter(), self)
        _ = writer.item("id", app)
        values.code(with: &writer)
        return writer.record
    }

    /// Reads the values of a record.
    mutating func restore(_ record: SavedRecord) {
        var reader = RecordReader(record)
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
    static func code(_ item: LaunchToken?, with parts: inout some PartCoder & ~Copyable) -> LaunchToken? {
        parts.rest(item?.rawValue).flatMap { LaunchToken(rawValue: $0) }
    }
}

nonisolated extension ProcessIdentity: SavedItem {
    static func code(
        _ item: ProcessIdentity?, with parts: inout some PartCoder & ~Copyable
    ) -> ProcessIdentity? {
        guard let number = parts.number(item.map { UInt64($0.pid) }), let start = parts.number(item?.startTime),
            let pid = ProcessID(exactly: number), pid > 1
        else { return nil }
        return ProcessIdentity(pid: pid, startTime: start)
    }
}

nonisolated extension Processes.ExitStatus: SavedItem {
    /// Writes or reads the kernel's account of an end. The process has ended whatever the parts say.
    static func code(_ item: Self?, with parts: inout some PartCoder & ~Copyable) -> Self? {
        var (kind, value): (String?, Int32?)
        switch item {
        case .exited(let code): (kind, value) = ("code", code)
        case .killed(let signal, let dumpedCore): (kind, value) = (dumpedCore ? "core" : "signal", signal.rawValue)
        case .unknown, nil: kind = "unknown"
        }
        kind = parts.text(kind)
        if parts.isReading || value != nil { value = parts.rest(value.map { String($0) }).flatMap { Int32($0) } }
        switch (kind, value) {
        case ("code", let code?): return .exited(code: code)
        case ("signal", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: false)
        case ("core", let number?): return .killed(by: Signal(rawValue: number), dumpedCore: true)
        default: return .unknown
        }
    }
}

nonisolated extension Confinement: SavedItem {
    static func code(_ item: Confinement?, with parts: inout some PartCoder & ~Copyable) -> Confinement? {
        parts.rest(item?.text).map { Confinement(text: $0) }
    }
}
