import Glibc

/// The environment of the process, without the variables that are not UTF-8: JSON cannot hold them.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe entry += 1
            // By bytes: `=` and a combining mark at the start of the value are one character.
            guard let pair = unsafe String(validatingCString: text),
                let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            result[String(pair[..<equals])] = String(pair[pair.utf8.index(after: equals)...])
        }
        return result
    }

    /// Returns one variable, which is faster than to read all.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// The working directory; nil if it was removed.
    static var workingDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}
