import CLinux

/// The environment of the process, without the variables that are not UTF-8: JSON cannot hold them.
enum Environment {
    static var current: [String: String] {
        var result: [String: String] = [:]
        var entry = unsafe linux_environment()
        while let text = unsafe entry?.pointee {
            unsafe entry = entry?.successor()
            // By bytes: `=` and a combining mark at the start of the value are one character.
            guard let pair = unsafe String(validatingCString: text),
                let equals = pair.utf8.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            result[String(pair[..<equals])] = String(pair[pair.utf8.index(after: equals)...])
        }
        return result
    }

    /// The words of the command line behind the name of the program. Bytes that are not UTF-8 are replaced.
    static var arguments: [String] {
        (1..<max(1, Int(linux_argument_count()))).compactMap { index in
            unsafe linux_argument(CInt(index)).map { unsafe String(cString: $0) }
        }
    }

    /// The positions of the words of the command line that are not UTF-8.
    static var otherArguments: [Int] {
        (1..<max(1, Int(linux_argument_count()))).filter { index in
            unsafe linux_argument(CInt(index)).map { unsafe String(validatingCString: $0) == nil } ?? false
        }
    }

    /// Returns the bytes of the last words of the command line, each with a NUL behind it.
    static func lastArguments(_ count: Int) -> [[CChar]] {
        let end = linux_argument_count()
        return (max(1, end - CInt(clamping: count))..<max(1, end)).compactMap { index in
            unsafe linux_argument(index).map { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
        }
    }

    /// Returns whether a variable is set to a text that is not UTF-8.
    static func hasOtherBytes(_ name: String) -> Bool {
        unsafe getenv(name).map { unsafe String(validatingCString: $0) == nil } ?? false
    }

    /// Returns the bytes of a word of the command line with a NUL behind them: those of the word itself if it is UTF-8.
    static func bytes(of word: String) -> [CChar] {
        for index in 1..<max(1, linux_argument_count()) {
            guard let argument = unsafe linux_argument(index), unsafe String(cString: argument) == word else {
                continue
            }
            return unsafe Array(UnsafeBufferPointer(start: argument, count: strlen(argument) + 1))
        }
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
