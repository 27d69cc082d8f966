package import LifecycleCore

// The records of the core as text, the format of version 1. A daemon reads it, and writes slots; a test can look at it, and change it.

extension Lifecycle {
    /// Returns the record of an app as text; nil if it has none.
    package func record(of id: AppID) -> SavedRecord? {
        var (core, writer) = (self, RecordWriter())
        guard let app = core.latestIndex(of: id), core.code(appAt: app.value, with: &writer) != nil
        else { return nil }
        return writer.record
    }

    /// The record of what concerns several apps as text.
    package var record: SavedRecord {
        var (core, writer) = (self, RecordWriter())
        core.code(with: &writer)
        return writer.record
    }
}

extension SavedRecord {
    /// A named value.
    package struct Field: Sendable, Equatable {
        /// Small letters and hyphens.
        package let name: String
        /// Any text.
        package let value: String

        /// Creates a value with a name.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a record of these values.
    package init(fields: [Field]) {
        var bytes: [UInt8] = []
        for field in fields {
            var value = SavedRecord()
            value.add("", field.value)
            bytes += " \(field.name)".utf8 + value.bytes.dropFirst()
        }
        self.init(encoded: bytes)
    }

    /// The values in the order in which they were added.
    package var fields: [Field] {
        bytes.split(separator: UInt8(ascii: " ")).compactMap { word in
            guard let sign = word.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = SavedRecord(encoded: word[sign...])[""] ?? ""
            return Field(name: String(decoding: word[..<sign], as: UTF8.self), value: value)
        }
    }
}
