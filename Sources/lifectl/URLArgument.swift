import Glibc

/// What a person names to be opened: a URL, or a file.
struct URLArgument {
    let url: String
    /// Its media type, where that is no matter of its name: a directory's in the shared MIME database.
    private(set) var type: String?

    /// A file of that name is meant before a URL; one that looks like neither is no URL.
    init(_ argument: String) throws(Failure) {
        let isThere = unsafe access(argument, F_OK) == 0
        if !isThere, Self.hasScheme(argument) {
            url = argument
            return
        }
        guard isThere, let path = unsafe realpath(argument, nil) else {
            throw Failure(
                status: .usage,
                message: "\(Text.printable(argument)) is neither a URL nor a file that is there: \(Text.error(errno))")
        }
        defer { unsafe free(path) }
        url = "file://" + Self.encoded(unsafe String(cString: path))
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { type = "inode/directory" }
    }

    /// Whether it begins as RFC 3986 says that a URL begins.
    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), let first = text.first, first.isASCII, first.isLetter else {
            return false
        }
        return text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    private static func encoded(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in path.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~/".utf8.contains(byte)
        }
    }
}
