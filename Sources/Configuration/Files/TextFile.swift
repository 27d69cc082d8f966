import Glibc

/// Reads files that users wrote, where anything at all may stand in their place.
enum TextFile {
    /// The longest file that is read, in bytes.
    static let maximumSize = 1_048_576

    enum Content: Equatable {
        case text(String)

        /// The file is empty or is /dev/null, which says that what lies below it does not count.
        case masked
    }

    /// Returns the content of a file; nil if there is none of this name. Does not wait for a FIFO's other end.
    ///
    /// - Parameter limit: The longest file that is read, in bytes.
    static func read(_ path: String, limit: Int = maximumSize) throws(Defect) -> Content? {
        try read(path, limit: limit) { (_) throws(Defect) in }
    }

    /// Returns the content of a file that only root and the daemon's user may have been able to write; nil if there is none.
    static func readTrusted(_ path: String) throws(Defect) -> Content? {
        try read(path, limit: maximumSize) { (status) throws(Defect) in
            try FileTrust.check(path, opened: status)
        }
    }

    private static func read(
        _ path: String, limit: Int, check: (stat) throws(Defect) -> Void
    ) throws(Defect) -> Content? {
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw Defect(cannot: "open the file", error: errno) }
            try refuseDanglingLink(path)
            return nil
        }
        defer { close(descriptor) }

        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw Defect(cannot: "examine the file", error: errno)
        }
        try check(status)
        if isNull(status) { return .masked }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Defect(cannot: "read the file", "it is not a regular file")
        }
        let bytes = try readAll(descriptor, limit: limit)
        return bytes.isEmpty ? .masked : .text(try decode(bytes))
    }

    /// Throws for a link to nothing, which is a mistake; no file at all is none.
    private static func refuseDanglingLink(_ path: String) throws(Defect) {
        var status = stat()
        guard unsafe lstat(path, &status) != 0 else {
            throw Defect(cannot: "read the file", "it is a link to a file that does not exist")
        }
    }

    /// Devices are the same if their numbers are; the name is only one way to them.
    private static func isNull(_ status: stat) -> Bool {
        guard status.st_mode & S_IFMT == S_IFCHR else { return false }
        var null = stat()
        return unsafe stat("/dev/null", &null) == 0 && status.st_rdev == null.st_rdev
    }

    /// Counts the bytes that are read and not the size, because a file can grow meanwhile.
    private static func readAll(_ descriptor: Int32, limit: Int) throws(Defect) -> [UInt8] {
        var bytes = try readChunk(descriptor)
        while bytes.count <= limit {
            let more = bytes.isEmpty ? [] : try readChunk(descriptor)
            if more.isEmpty { return bytes }
            bytes += more
        }
        throw Defect(cannot: "read the file", "it is larger than \(limit) bytes")
    }

    private static func readChunk(_ descriptor: Int32) throws(Defect) -> [UInt8] {
        let size = 16_384
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
            repeat {
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, size)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw Defect(cannot: "read the file", error: errno) }
        return bytes
    }

    private static func decode(_ bytes: [UInt8]) throws(Defect) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        throw Defect(line: index.map { $0 + 1 }, cannot: "read the file", "it is not valid UTF-8")
    }
}

/// The system's words for its errors.
enum ErrnoText {
    /// Returns the description of an error number, as in errno(3).
    static func text(_ number: Int32) -> String {
        unsafe String(cString: strerror(number))
    }
}

/// Lists directories.
enum Directory {
    /// Returns the names in a directory that end in `suffix`, hidden ones left out; nil if there is no such directory.
    ///
    /// - Parameter reject: A function that is called for each name that is not UTF-8, with replacements. These are left out.
    static func names(
        in path: String, endingIn suffix: String, reject: (String) -> Void = { _ in }
    ) throws(Defect) -> [String]? {
        guard let directory = unsafe opendir(path) else {
            if errno == ENOENT { return nil }
            throw Defect(cannot: "open the directory", error: errno)
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(directory) {
            let (name, isValid) = unsafe name(of: entry)
            if !name.hasPrefix("."), name.hasSuffix(suffix) { isValid ? names.append(name) : reject(name) }
            errno = 0
        }
        guard errno == 0 else { throw Defect(cannot: "read the directory", error: errno) }
        return names
    }

    /// Returns whether a directory is there.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns the size of a file in bytes, as far as it matters for reading; 0 if there is none.
    static func size(ofFile path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? min(max(0, status.st_size), TextFile.maximumSize) : 0
    }

    /// Returns a name, and whether it is UTF-8. Otherwise it has replacements.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> (name: String, isValid: Bool) {
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                unsafe (String(cString: name), String(validatingCString: name) != nil)
            }
        }
    }
}
