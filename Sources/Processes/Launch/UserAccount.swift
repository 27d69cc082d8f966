import Glibc

/// The reason why an account could not be read.
public enum UserLookupError: Error, Hashable, Sendable {
    case noSuchUser(String)
    case failed(user: String, error: Errno)
}

extension UserLookupError: CustomStringConvertible {
    /// One clause, without a full stop.
    public var description: String {
        switch self {
        case .noSuchUser(let user): "there is no user \(user)"
        case .failed(let user, let error): "cannot look up user \(user): \(error)"
        }
    }
}

/// A user of this machine, as the name service knows it.
///
/// The name service may wait for a server: an account is looked up when a configuration is read, and not by an event loop.
public struct UserAccount: Hashable, Sendable {
    /// The name to log in with.
    public let name: String
    /// The number of the user.
    public let userID: UInt32
    /// The number of the first group.
    public let groupID: UInt32
    /// All groups, the first one included.
    public let groups: [UInt32]
    /// The home directory; `/` when the entry has none.
    public let home: String
    /// The login shell; `/bin/sh` when the entry has none.
    public let shell: String

    /// The account as the credentials of a spawn request.
    public var credentials: Credentials {
        Credentials(userID: userID, groupID: groupID, groups: groups)
    }
}

extension UserAccount {
    /// Looks an account up by its name, with getpwnam_r(3).
    ///
    /// - Parameter name: The name to log in with.
    /// - Throws: ``UserLookupError/noSuchUser(_:)``, or the error of the name service.
    public static func named(_ name: String) throws(UserLookupError) -> UserAccount {
        guard !name.utf8.contains(0) else { throw .noSuchUser(name.debugDescription) }
        return try unsafe find(name) { unsafe getpwnam_r(name, $0, $1, $2, $3) }
    }

    /// Looks an account up by the number of its user, with getpwuid_r(3).
    ///
    /// - Parameter userID: The number.
    /// - Throws: The same as ``named(_:)``, with the number for the name.
    public static func numbered(_ userID: UInt32) throws(UserLookupError) -> UserAccount {
        try unsafe find(String(userID)) { unsafe getpwuid_r(userID, $0, $1, $2, $3) }
    }

    /// A call of the name service: it fills an entry, keeps its texts in a buffer of a size, and says whether it found one.
    private typealias LookUp = (
        UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
        UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
    ) -> Int32

    private static func find(_ user: String, by lookUp: LookUp) throws(UserLookupError) -> UserAccount {
        var size = 1024
        while true {
            let (account, error) = unsafe attempt(lookUp, bufferSize: size)
            if let account { return account }
            if error == ERANGE, size < largestEntry {
                size *= 4
            } else if error != EINTR {
                // Some name services say so instead of finding nothing.
                guard ![0, ENOENT, ESRCH].contains(error) else { throw .noSuchUser(user) }
                throw .failed(user: user, error: Errno(rawValue: error))
            }
        }
    }

    /// Returns the name of a user in passwd(5); the number if it has none there. Does not ask the name service.
    public static func name(ofUserID userID: UInt32) -> String {
        let text = (try? ProcFile.read("/etc/passwd", limit: largestEntry)) ?? []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 3, omittingEmptySubsequences: false)
            guard fields.count == 4, UInt32(String(decoding: fields[2], as: UTF8.self)) == userID else { continue }
            return String(decoding: fields[0], as: UTF8.self)
        }
        return String(userID)
    }

    private static let largestEntry = 1 << 20
    private static let mostGroups = 65536

    private static func attempt(_ lookUp: LookUp, bufferSize: Int) -> (UserAccount?, Int32) {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: bufferSize) { buffer in
            guard let start = buffer.baseAddress else { return (nil, ENOMEM) }
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            let error = unsafe lookUp(&entry, start, bufferSize, &found)
            guard error == 0, unsafe found != nil else { return (nil, error) }
            return (unsafe UserAccount(entry), 0)
        }
    }

    private init(_ entry: passwd) {
        let name = unsafe entry.pw_name.map { unsafe String(cString: $0) } ?? ""
        let home = unsafe entry.pw_dir.map { unsafe String(cString: $0) } ?? ""
        let shell = unsafe entry.pw_shell.map { unsafe String(cString: $0) } ?? ""
        self.init(
            name: name,
            userID: unsafe entry.pw_uid,
            groupID: unsafe entry.pw_gid,
            groups: Self.groups(of: name, primary: unsafe entry.pw_gid),
            home: home.isEmpty ? "/" : home,
            shell: shell.isEmpty ? "/bin/sh" : shell
        )
    }

    private static func groups(of name: String, primary: UInt32) -> [UInt32] {
        var capacity = 32
        while capacity <= mostGroups {
            var count = Int32(capacity)
            var groups = [UInt32](repeating: 0, count: capacity)
            if unsafe getgrouplist(name, primary, &groups, &count) >= 0 {
                return Array(groups.prefix(Int(count)))
            }
            // It says how many it needs, but may also say nothing useful.
            capacity = max(capacity * 2, Int(count))
        }
        return [primary]
    }
}
