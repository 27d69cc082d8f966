import Processes
import Systemd

/// The accounts of the users that manifests name.
///
/// The name service may wait for a server that does not answer. It is asked when a configuration is read, and never by a launch.
final class UserAccounts {
    private var accounts: [String: Result<UserAccount, UserLookupError>] = [:]

    /// The time that one answer may take, as long as systemd lets a service start by default.
    private static let answerTime = Duration.seconds(90)

    /// Looks users up, and forgets all others. If the name service fails, a user keeps the account that was found before.
    func update(
        _ names: Set<String>, by lookUp: (String) throws(UserLookupError) -> UserAccount = UserAccount.named
    ) {
        var found: [String: Result<UserAccount, UserLookupError>] = [:]
        for name in names.sorted() {
            // Neither the watchdog nor the time for a start ends the daemon meanwhile.
            try? ServiceManager.notify([.extendTimeout(Self.answerTime)])
            let result = Result { () throws(UserLookupError) in try lookUp(name) }
            if case .failure(.failed) = result, let before = accounts[name] {
                found[name] = before
            } else {
                found[name] = result
            }
        }
        accounts = found
    }

    /// Looks up the groups of the users of ad-hoc apps whose records lack them, as those of an older daemon do.
    ///
    /// - Returns: The groups of each user, the first one first; none for a user whose account cannot be looked up.
    static func groups(
        ofUsers users: Set<UInt32>, by lookUp: (UInt32) throws(UserLookupError) -> UserAccount = UserAccount.numbered
    ) -> [UInt32: [UInt32]] {
        var found: [UInt32: [UInt32]] = [:]
        for user in users.sorted() {
            try? ServiceManager.notify([.extendTimeout(answerTime)])
            guard let account = try? lookUp(user) else { continue }
            found[user] = [account.groupID] + account.groups.filter { $0 != account.groupID }
        }
        return found
    }

    /// Returns the account of a user.
    ///
    /// - Throws: The error of the latest lookup.
    func account(of name: String) throws(UserLookupError) -> UserAccount {
        guard let result = accounts[name] else { throw .noSuchUser(name) }
        return try result.get()
    }
}
