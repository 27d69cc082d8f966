import Glibc
import Processes

/// Why a directory cannot be used.
struct DirectoryError: Error, CustomStringConvertible {
    let description: String
}

/// Directories that belong to one user and that nobody else can have prepared.
enum PrivateDirectory {
    /// Makes the directory and those above it. One that is there already is used as it is, if it is a directory and no
    /// link to one, belongs to the owner, and lets nobody else write. Nobody else may be able to put something in the
    /// place of one above it either.
    ///
    /// - Parameter owner: Whose it is to be; nil for the daemon's own user. Those above it, where they are missing,
    ///   belong to the daemon.
    static func make(_ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil) throws(DirectoryError) {
        try makeParents(of: path)
        try checkParents(of: path)
        try add(path, mode: mode, owner: owner)
    }

    /// The same for a directory in one that has just been made or looked at, with which all above it is in order.
    static func add(_ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil) throws(DirectoryError) {
        guard unsafe mkdir(path, mode) == 0 else {
            guard errno == EEXIST else { throw failure("create", path) }
            return try look(at: path, owner: owner?.user ?? geteuid())
        }
        do throws(DirectoryError) {
            try furnish(path, mode: mode, owner: owner)
        } catch {
            // What is half made would be refused the next time, as somebody else's.
            unsafe rmdir(path)
            throw error
        }
    }

    private static func furnish(
        _ path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)?
    ) throws(DirectoryError) {
        let directory = try open(path)
        guard fchmod(directory.rawValue, mode) == 0 else { throw failure("set the mode of", path) }
        if let owner, fchown(directory.rawValue, owner.user, owner.group) != 0 { throw failure("hand over", path) }
    }

    private static func open(_ path: String) throws(DirectoryError) -> Descriptor {
        let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw failure("open", path) }
        return Descriptor(owning: number)
    }

    private static func look(at path: String, owner: uid_t) throws(DirectoryError) {
        let directory = try open(path)
        var status = stat()
        guard unsafe fstat(directory.rawValue, &status) == 0 else { throw failure("look at", path) }
        guard status.st_uid == owner else {
            throw DirectoryError(description: "\(path) belongs to user \(status.st_uid), and should to user \(owner)")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw DirectoryError(
                description: "others may write to \(path); it has to be a directory of the owner's alone")
        }
    }

    private static func makeParents(of path: String) throws(DirectoryError) {
        let mode: mode_t = geteuid() == 0 ? 0o755 : 0o700
        for parent in parents(of: path) where unsafe mkdir(parent, mode) != 0 && errno != EEXIST {
            throw failure("create", parent)
        }
    }

    /// Looks at the way as it is written, with the links in it, and at the one that these lead to.
    private static func checkParents(of path: String) throws(DirectoryError) {
        let parents = parents(of: path)
        guard let last = parents.last else { return }
        guard let resolved = unsafe realpath(last, nil) else { throw failure("find", last) }
        defer { unsafe free(resolved) }
        let real = unsafe String(cString: resolved)
        for parent in parents + self.parents(of: real) + [real] { try checkParent(parent) }
    }

    /// A directory in which others may write has to keep them from renaming what is not theirs.
    private static func checkParent(_ path: String) throws(DirectoryError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure("look at", path) }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw DirectoryError(
                description: "\(path) belongs to user \(status.st_uid), who could put anything below it")
        }
        let isOpenToOthers = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWOTH | S_ISVTX) == S_IWOTH
        guard !isOpenToOthers else {
            throw DirectoryError(description: "everybody may write to \(path), and could put anything below it")
        }
        let isOpenToGroup = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & (S_IWGRP | S_ISVTX) == S_IWGRP
        guard !isOpenToGroup || isPrivate(group: status.st_gid) else {
            throw DirectoryError(
                description: "group \(status.st_gid) may write to \(path), and could put anything below it; "
                    + "'chmod g-w \(path)' forbids that")
        }
    }

    /// Returns whether the group is the daemon user's own alone, as where every user has such a group and a umask of 002.
    /// Root's is none: the apps of other users depend on root's directories.
    private static func isPrivate(group: gid_t) -> Bool {
        guard geteuid() != 0, group == geteuid(), let entry = unsafe getgrgid(group) else { return false }
        return unsafe entry.pointee.gr_mem?.pointee == nil
    }

    private static func parents(of path: String) -> [String] {
        // By bytes: a name may begin with an accent, which makes one character with the sign before it.
        path.utf8.indices.dropFirst().filter { path.utf8[$0] == UInt8(ascii: "/") }.map { String(path[..<$0]) }
    }

    private static func failure(_ operation: String, _ path: String) -> DirectoryError {
        DirectoryError(description: "cannot \(operation) \(path): \(Processes.Errno(rawValue: errno))")
    }
}
