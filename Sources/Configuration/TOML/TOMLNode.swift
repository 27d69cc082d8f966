/// A value of a TOML text, as a value of Swift.
enum TOMLNode: Equatable, Sendable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)

    /// A date, a time, or both; none of our keys takes one.
    case moment
    case array([TOMLNode])
    case table([String: TOMLNode])

    /// The value in a user's words.
    var summary: String {
        switch self {
        case .string(let text): text.quoted
        case .integer(let number): "the integer \(number)"
        case .float(let number): "the number \(number)"
        case .boolean(let value): "\(value)"
        case .moment: "a date or a time"
        case .array(let elements): elements.isEmpty ? "an empty array" : "an array"
        case .table: "a table"
        }
    }
}

extension String {
    /// The text in quotation marks, shortened, with nothing in it that could drive a terminal.
    var quoted: String {
        let longest = 60
        var text = ""
        for scalar in unicodeScalars.prefix(longest) {
            let isControl =
                scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
            if isControl || scalar == "\"" || scalar == "\\" {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return unicodeScalars.count > longest ? "\"\(text)…\"" : "\"\(text)\""
    }
}
