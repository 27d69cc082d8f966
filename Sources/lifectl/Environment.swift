import Glibc

/// The process's environment. What is not UTF-8 cannot go over the wire, and is left out.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe entry += 1
            // By bytes: the sign and an accent at the beginning of the value are one character.
            guard let pair = unsafe String(validatingCString: text),
                let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            result[String(pair[..<equals])] = String(pair[pair.utf8.index(after: equals)...])
        }
        return result
    }

    /// One variable of it: to look for a few is quicker than to read all.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// Where the process is, or nil when that directory is gone.
    static var workingDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}
