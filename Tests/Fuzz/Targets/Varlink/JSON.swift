@testable import Varlink

extension FuzzTarget {
    /// Any JSON: values, their errors, and what is written of them.
    static let json = FuzzTarget("json", takesList: true) { bytes in
        do throws(JSONError) {
            let text = try JSONText(bytes, depth: 16)
            let value: JSONValue = try text.read()
            var json = JSONWriter()
            json.write(value)
            require(json.bytes.count <= bytes.count, "nothing is longer than it was")
            require((try? JSONText(json.bytes, depth: 16).read()) == value, "what was written is read again")
            readTyped(text)
        } catch {
            require(0...bytes.count ~= error.position, "an error is within the text")
            require(!error.description.isEmpty, "an error has words")
        }
    }

    /// Reads the text as types that it may not have.
    private static func readTyped(_ text: JSONText) {
        do throws(JSONError) {
            if let number: Int64 = try? text.read() {
                var json = JSONWriter()
                json.write(number)
                require((try? JSONText(json.bytes).read()) == number, "integers are exact")
            }
            let _: [String: [Int64?]] = try text.read()
        } catch {
            require(0...text.bytes.count ~= error.position, "an error is within the text")
        }
    }
}
