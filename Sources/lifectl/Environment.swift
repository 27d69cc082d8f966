import Glibc

/// The process's environment. What is not UTF-8 cannot go over the wire, and is left out.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = unsafe environ
        while let text = unsafe entry.pointee {
            unsafe entry += 1
            guard let pair = unsafe String(validatingCString: text), let equals = pair.firstIndex(of: "=") else {
                continue
            }
            result[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        return result
    }

    /// Where the process is, or nil when that directory is gone.
    static var workingDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
    }
}
