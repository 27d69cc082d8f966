import Glibc

/// The check that only root and the daemon's own user can have written a file.
///
/// The file, and each directory and link on the way to it, must belong to either. No other user may be able to write to it or to replace
/// it: a directory that a group or others may write to must be sticky. The private group of the daemon's user counts as the user.
enum FileTrust {
    /// As many links as the kernel follows, path_resolution(7).
    private static let linkLimit = 40

    /// Throws the first objection to a file that is open.
    ///
    /// - Parameters:
    ///   - path: The path by which it was opened, which is absolute, or relative to the working directory.
    ///   - opened: The result of fstat(2) for the file.
    static func check(_ path: String, opened: stat) throws(Defect) {
        var rest = components(of: path)
        var resolved = path.utf8.first == UInt8(ascii: "/") ? "" : "."
        var status = try look(at: resolved.isEmpty ? "/" : resolved)
        var links = 0
        while let name = rest.popLast() {
            try checkDirectory(status, resolved.isEmpty ? "/" : resolved)
            let next = "\(resolved)/\(name)"
            status = try look(at: next)
            try checkOwner(status, next)
            guard isLink(status) else {
                resolved = next
                continue
            }
            links += 1
            guard links <= linkLimit, let target = target(of: next) else {
                throw Defect(cannot: "use the file", "the link \(next) cannot be followed")
            }
            if target.utf8.first == UInt8(ascii: "/") { resolved = "" }
            rest += components(of: target)
            status = try look(at: resolved.isEmpty ? "/" : resolved)
        }
        guard status.st_ino == opened.st_ino, status.st_dev == opened.st_dev else {
            throw Defect(
                cannot: "use the file", "another one took its place meanwhile", remedy: "reload the configuration")
        }
        // Every user may write to /dev/null, by which a manifest is masked.
        if status.st_mode & S_IFMT == S_IFREG { try checkMode(status, resolved) }
    }

    /// Returns the names on the way, the last one first. By bytes: a name may begin with an accent, which makes one
    /// character with the slash before it.
    private static func components(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }.reversed()
    }

    private static func isLink(_ status: stat) -> Bool { status.st_mode & S_IFMT == S_IFLNK }

    private static func look(at path: String) throws(Defect) -> stat {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            throw Defect(cannot: "examine \(path)", error: errno, remedy: "ignoring the file")
        }
        return status
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func checkDirectory(_ status: stat, _ path: String) throws(Defect) {
        try checkOwner(status, path)
        if status.st_mode & S_ISVTX == 0 { try checkMode(status, path) }
    }

    private static func checkOwner(_ status: stat, _ path: String) throws(Defect) {
        guard status.st_uid == 0 || status.st_uid == geteuid() || isUnmappedRoot(status.st_uid) else {
            let owner = geteuid() == 0 ? "to root" : "to you or root"
            throw Defect(
                cannot: "use the file", "\(path) belongs to user \(status.st_uid), not \(owner)",
                remedy: "run 'chown -h \(geteuid()) \(path)'")
        }
    }

    private static func checkMode(_ status: stat, _ path: String) throws(Defect) {
        guard status.st_mode & S_IWOTH == 0 else {
            throw Defect(
                cannot: "use the file", "every user may write to \(path)", remedy: "run 'chmod o-w \(path)'")
        }
        guard status.st_mode & S_IWGRP == 0 || PrivateGroup.isOwn(status.st_gid) else {
            throw Defect(
                cannot: "use the file", "group \(status.st_gid) may write to \(path)", remedy: "run 'chmod g-w \(path)'"
            )
        }
    }

    /// Returns whether a user stands for root. In a user namespace that does not know root, the kernel shows root's
    /// files as the overflow user's.
    private static func isUnmappedRoot(_ user: uid_t) -> Bool { user == overflowUser && !isInitialNamespace }

    private static let overflowUser: uid_t = 65534

    private static let isInitialNamespace: Bool = {
        guard let file = unsafe fopen("/proc/self/uid_map", "re") else { return true }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 64)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return true }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(whereSeparator: \.isWhitespace).last.map { $0 == "4294967295" } ?? true
    }()
}
