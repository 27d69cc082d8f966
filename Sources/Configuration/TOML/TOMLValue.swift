package import LifecycleTypes

/// A value that can be written as TOML.
package protocol TOMLValue: SendableMetatype {
    /// The value as it stands in a file, after the equals sign.
    var toml: String { get }
}

extension TOMLValue where Self: RawRepresentable<String> {
    package var toml: String { rawValue.toml }
}

extension SuspensionPolicy: TOMLValue {}
extension CallbackPolicy: TOMLValue {}
extension RestartPolicy: TOMLValue {}
extension ExitSuccessor: TOMLValue {}
extension LaunchPosition: TOMLValue {}

extension Bool: TOMLValue {
    package var toml: String { "\(self)" }
}

extension Int: TOMLValue {
    package var toml: String { String(self) }
}

extension UInt32: TOMLValue {
    package var toml: String { String(self) }
}

extension Duration: TOMLValue {
    package var toml: String {
        let (seconds, rest) = components
        let microseconds = seconds * 1_000_000 + rest / 1_000_000_000_000
        let text =
            microseconds % 1_000_000 == 0
            ? "\(seconds)s" : microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us"
        return text.toml
    }
}

// A text with the character NUL is not read again: neither a file nor a process has one.
extension String: TOMLValue {
    package var toml: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\0"..."\u{1F}", "\u{7F}":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }

    /// The text as a key.
    var tomlKey: String {
        let isBare = !isEmpty && utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
        return isBare ? self : toml
    }
}

extension Array: TOMLValue where Element: TOMLValue {
    package var toml: String { "[" + map(\.toml).joined(separator: ", ") + "]" }
}

extension Set: TOMLValue where Element: TOMLValue {
    package var toml: String { "[" + map(\.toml).sorted().joined(separator: ", ") + "]" }
}

extension Dictionary: TOMLValue where Key == String, Value: TOMLValue {
    package var toml: String {
        isEmpty
            ? "{}" : "{ " + map { "\($0.tomlKey) = \($1.toml)" }.sorted().joined(separator: ", ") + " }"
    }
}
