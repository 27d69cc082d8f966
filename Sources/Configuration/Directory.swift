import Glibc

/// Lists directories.
enum Directory {
    /// The names in a directory that end in `suffix`, hidden ones left out; nil if there is no such directory.
    static func names(in path: String, endingIn suffix: String) throws(TextFile.Failure) -> [String]? {
        guard let directory = unsafe opendir(path) else {
            if errno == ENOENT { return nil }
            throw TextFile.Failure(message: "cannot be opened: \(SystemError.text(errno))")
        }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(directory) {
            let name = unsafe name(of: entry)
            if !name.hasPrefix("."), name.hasSuffix(suffix) { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw TextFile.Failure(message: "cannot be read: \(SystemError.text(errno))") }
        return names
    }

    /// Whether a directory is there.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// How large a file is, in bytes, as far as it matters to who reads it; nothing where there is none.
    static func size(ofFile path: String) -> Int {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? min(max(0, status.st_size), TextFile.maximumSize) : 0
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
            unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
    }
}
