@testable import Varlink

extension FuzzTarget {
    /// Any JSON: values, their errors, and what is written of them.
    static let json = FuzzTarget("json", takesList: true) { bytes in
        do throws(JSONError) {
            let value = try JSONValue(parsing: bytes[...], depth: 16)
            let written = value.bytes
            require(written.count <= bytes.count, "nothing is longer than it was")
            require((try? JSONValue(parsing: written[...], depth: 16)) == value, "what was written is read again")
            readTyped(value)
        } catch {
            require(!error.description.isEmpty, "an error has words")
        }
    }

    /// Reads the value as types that it may not have.
    private static func readTyped(_ value: JSONValue) {
        if let number = value.integer { require(number.json.integer == number, "integers are exact") }
        _ = try? [String: [Int64]](json: value)
    }
}
