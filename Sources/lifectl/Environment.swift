import Glibc

/// The environment of the process, without the variables that are not UTF-8: JSON cannot hold them.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry = unsafe environ
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

    /// The words of the command line after the name of the program, as the kernel passed them.
    private static var words: [UnsafeMutablePointer<CChar>] {
        unsafe (1..<max(1, Int(CommandLine.argc))).compactMap { unsafe CommandLine.unsafeArgv[$0] }
    }

    /// The words of the command line after the name of the program. Bytes that are not UTF-8 are replaced.
    static var arguments: [String] { unsafe words.map { unsafe String(cString: $0) } }

    /// The positions of the words of the command line that are not UTF-8.
    static var otherArguments: [Int] {
        unsafe words.enumerated().compactMap { index, word in
            unsafe String(validatingCString: word) == nil ? index + 1 : nil
        }
    }

    /// Returns the bytes of the last words of the command line, each with a NUL after it.
    static func lastArguments(_ count: Int) -> [[CChar]] { unsafe words.suffix(count).map { unsafe bytes($0) } }

    private static func bytes(_ word: UnsafePointer<CChar>) -> [CChar] {
        unsafe Array(UnsafeBufferPointer(start: word, count: strlen(word) + 1))
    }

    /// Returns whether a variable is set to a text that is not UTF-8.
    static func hasOtherBytes(_ name: String) -> Bool {
        unsafe getenv(name).map { unsafe String(validatingCString: $0) == nil } ?? false
    }

    /// Returns the bytes of a word of the command line with a NUL after them: those of the word itself if it is UTF-8.
    static func bytes(of word: String) -> [CChar] {
        if let same = unsafe words.first(where: { unsafe String(cString: $0) == word }) { return unsafe bytes(same) }
        return Array(word.utf8CString)
    }

    /// Returns one variable, which is faster than to read all.
    static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }

    /// The directory of the running lifectl; nil without /proc.
    static var programDirectory: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// The working directory; nil if it was removed. Bytes that are not UTF-8 are replaced: no program runs in another one.
    static var workingDirectory: String? {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
