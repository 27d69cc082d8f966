package import LifecycleCore

// Saved records as a test looks at them, and changes them.

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
        self.init(
            encoded: fields.flatMap { field in
                " \(field.name)=".utf8 + SavedRecord.encoded(field.value.utf8)
            })
    }

    /// The values in the order in which they were added.
    package var fields: [Field] {
        bytes.split(separator: UInt8(ascii: " ")).compactMap { word in
            guard let sign = word.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = SavedRecord.decoded(word[(sign + 1)...])
            return Field(
                name: String(decoding: word[..<sign], as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        }
    }

    /// The first value of the name.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The record after a value that names its app.
    package func named(_ app: AppID) -> SavedRecord {
        SavedRecord(fields: [Field(name: "id", value: app.name)] + fields)
    }
}

extension Engine {
    /// Returns the record of an app, after its id; nil if it has none.
    package func record(of id: AppID) -> SavedRecord? {
        index(of: id).flatMap { savedRecord(of: $0) }.map { $0.named(id) }
    }

    /// The record of what concerns several apps.
    package var record: SavedRecord { savedRecord }

    /// The records of all apps that have one, in the order of their names.
    package var records: [SavedRecord] { knownApps.keys.sorted().compactMap { record(of: $0) } }

    /// Creates the core of records that begin with the ids of their apps.
    package init(
        restoring machine: SavedRecord, apps records: [SavedRecord], settings: Settings, policy: (AppID) -> Policy?,
        at now: Instant
    ) {
        let named = records.compactMap { record in
            record["id"].flatMap { $0.isEmpty ? nil : (AppID($0), record) }
        }
        self.init(restoring: machine, apps: named, settings: settings, policy: policy, at: now)
    }
}
