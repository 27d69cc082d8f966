/// A URL as it was given, as far as the daemon looks into it: RFC 3986 in its broad outlines, for an app may have schemes
/// of its own.
nonisolated struct URLText: Hashable, Sendable {
    let text: String
    /// In lower case.
    let scheme: String

    /// nil for what has no scheme, or characters that no URL has.
    init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon]
        guard scheme.first?.isLetter == true, scheme.utf8.count <= 64,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self.text = text
        self.scheme = scheme.lowercased()
    }

    /// The path of a file on this machine, decoded; nil for any other URL.
    var filePath: String? {
        guard scheme == "file" else { return nil }
        // By bytes: a slash and an accent after it are one character.
        var rest = text.utf8.dropFirst("file:".utf8.count)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || Substring(host).lowercased() == "localhost" else { return nil }
            rest = rest.dropFirst(host.count)
        }
        let path = Self.decoded(rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        return path.flatMap { $0.utf8.first == UInt8(ascii: "/") && !$0.utf8.contains(0) ? $0 : nil }
    }

    /// The last part of a file's path.
    var fileName: String? {
        filePath?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
