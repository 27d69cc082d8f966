import CLinux
import Configuration
import Glibc
import Processes

/// Directories of one user that no other user can have prepared.
enum PrivateDirectory {
    /// Makes a directory and its parents. An existing directory is used if it is no link, belongs to the owner, and no other
    /// user may write to it or replace one of its parents.
    ///
    /// - Parameter owner: The owner; nil for the daemon's own user. New parents belong to the daemon.
    static func make(_ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil) throws(DaemonError) {
        try makeParents(of: path)
        try checkParents(of: path)
        try add(path, mode: mode, owner: owner)
    }

    /// Makes a directory in one that was made or checked just before.
    static func add(_ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil) throws(DaemonError) {
        var status = stat()
        // Mostly it is there.
        if unsafe lstat(path, &status) == 0 { return try check(path, status, owner: owner?.user ?? geteuid()) }
        guard unsafe mkdir(path, mode) == 0 else { throw failure("create", path) }
        do throws(DaemonError) {
            try furnish(path, mode: mode, owner: owner)
        } catch {
            // A half-made directory would be refused the next time.
            unsafe rmdir(path)
            throw error
        }
    }

    /// Sets the mode and the owner of a directory.
    static func furnish(
        _ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)?
    ) throws(DaemonError) {
        let directory = try open(path)
        guard fchmod(directory.rawValue, mode) == 0 else { throw failure("set the mode of", path) }
        if let owner, fchown(directory.rawValue, owner.user, owner.group) != 0 {
            throw failure("change the owner of", path)
        }
    }

    private static func open(_ path: String) throws(DaemonError) -> Descriptor {
        let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw failure("open", path) }
        return Descriptor(owning: number)
    }

    private static func check(_ path: String, _ status: stat, owner: uid_t) throws(DaemonError) {
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw DaemonError(.directory, "cannot use \(path): it is not a directory; remove it")
        }
        guard status.st_uid == owner else {
            throw DaemonError(
                .directory,
                "cannot use \(path): it belongs to user \(status.st_uid), not to user \(owner); run 'chown \(owner) \(path)'"
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw DaemonError(
                .directory, "cannot use \(path): other users may write to it; run 'chmod go-w \(path)'")
        }
    }

    private static func makeParents(of path: String) throws(DaemonError) {
        let mode: mode_t = geteuid() == 0 ? 0o755 : 0o700
        for parent in parents(of: path) where unsafe mkdir(parent, mode) != 0 && errno != EEXIST {
            throw failure("create", parent)
        }
    }

    /// Checks the path as it is written, with its links, and the path to which these lead.
    private static func checkParents(of path: String) throws(DaemonError) {
        let parents = parents(of: path)
        guard let last = parents.last else { return }
        guard let resolved = unsafe realpath(last, nil) else { throw failure("find", last) }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        for parent in parents + self.parents(of: real) + [real] { try checkParent(parent) }
    }

    /// Checks the directory above: one in which other users may write must be sticky.
    private static func checkParent(_ path: String) throws(DaemonError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure("examine", path) }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw DaemonError(
                .directory,
                "cannot use \(path): it belongs to user \(status.st_uid), who could replace what is below; name another directory"
            )
        }
        let isOpenToOthers = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWOTH | S_ISVTX) == S_IWOTH
        guard !isOpenToOthers else {
            throw DaemonError(.directory, "cannot use \(path): every user may write to it; run 'chmod o-w \(path)'")
        }
        let isOpenToGroup = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWGRP | S_ISVTX) == S_IWGRP
        guard !isOpenToGroup || PrivateGroup.isOwn(status.st_gid) else {
            throw DaemonError(
                .directory,
                "cannot use \(path): group \(status.st_gid) may write to it; run 'chmod g-w \(path)'")
        }
    }

    private static func parents(of path: String) -> [String] {
        // By bytes: a slash and a combining accent after it are one character.
        path.utf8.indices.dropFirst().filter { path.utf8[$0] == UInt8(ascii: "/") }.map { String(path[..<$0]) }
    }

    private static func failure(_ operation: String, _ path: String) -> DaemonError {
        let error = Errno(rawValue: errno)
        guard error.rawValue == EACCES, geteuid() != 0 else {
            return DaemonError(.directory, "cannot \(operation) \(path)", errno: error)
        }
        let remedy =
            DaemonPaths.isOfSystem(path)
            ? "run lifed as root or with --user" : "change the permissions of the directories above it"
        return DaemonError(
            .directory, "cannot \(operation) \(path): \(error); \(remedy), or name another directory")
    }
}
