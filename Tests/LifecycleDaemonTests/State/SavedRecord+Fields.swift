@testable import LifecycleDaemon

nonisolated extension SavedRecord {
    /// A named value.
    struct Field: Sendable, Equatable {
        /// Small letters and hyphens.
        let name: String
        /// Any text.
        let value: String
    }

    /// Creates a record of these values.
    init(fields: [Field]) {
        var bytes: [UInt8] = []
        for field in fields {
            var value = SavedRecord()
            value.add("", field.value)
            bytes += " \(field.name)".utf8 + value.bytes.dropFirst()
        }
        self.init(encoded: bytes)
    }

    /// The values in the order in which they were added.
    var fields: [Field] {
        bytes.split(separator: UInt8(ascii: " ")).compactMap { word in
            guard let sign = word.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            let value = SavedRecord(encoded: word[sign...])[""] ?? ""
            return Field(name: String(decoding: word[..<sign], as: UTF8.self), value: value)
        }
    }
}
