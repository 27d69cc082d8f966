extension Kind<Set<String>> {
    /// What an app opens, by the scheme: RFC 3986, section 3.1. Case does not matter.
    static let schemes = lowercased(
        #"an array of URL schemes without the colon, such as ["http", "https"]"#, where: isScheme)

    /// What an app opens, by the media type: RFC 6838, section 4.2. Case does not matter.
    static let mimeTypes = lowercased(
        #"an array of media types, such as ["text/plain", "image/*"]"#, where: isMediaType)

    private static func lowercased(_ expected: String, where fits: @escaping @Sendable (String) -> Bool) -> Kind {
        Kind { node throws(Mismatch) in
            guard case .array(let elements) = node, elements.count <= 256 else {
                throw Mismatch(expected: expected, found: node)
            }
            var found: Set<String> = []
            for (index, element) in elements.enumerated() {
                guard case .string(let text) = element, fits(text) else {
                    throw Mismatch(expected: expected, found: element, hint: " as element \(index + 1)")
                }
                found.insert(text.lowercased())
            }
            return found
        }
    }

    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    static func isMediaType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isMediaName(parts[0]) else { return false }
        return parts[1] == "*" || isMediaName(parts[1])
    }

    private static func isMediaName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) || isDigit(first), text.utf8.count <= 127 else {
            return false
        }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "!#$&-^_.+".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

extension Kind<[String: String]> {
    /// Which app opens what several could.
    static let defaultApps = Kind { node throws(Mismatch) in
        guard case .table(let table) = node else {
            throw Mismatch(expected: #"a table of apps, { https = "org.example.browser" }"#, found: node)
        }
        var apps: [String: String] = [:]
        for (name, value) in table.sorted(by: { $0.key < $1.key }) {
            guard Kind<Set<String>>.isScheme(name) || Kind<Set<String>>.isMediaType(name) else {
                throw Mismatch(
                    at: [name], message: "defaults: \(name.quoted) is neither a URL scheme nor a media type")
            }
            guard case .string(let id) = value, AppIdentifier.isValid(id) else {
                throw Mismatch(at: [name], expected: "the id of an app", found: value)
            }
            apps[name.lowercased()] = id
        }
        return apps
    }
}
