import Glibc
import Processes
import Testing

@testable import LifecycleDaemon

@Suite struct UserAccountsTests {
    @Test func accountsAreThoseOfTheLatestUpdate() throws {
        let accounts = UserAccounts()
        #expect(throws: UserLookupError.noSuchUser("root")) { try accounts.account(of: "root") }
        accounts.update(["root", "no-such-user-here"])
        #expect(try accounts.account(of: "root") == UserAccount.named("root"))
        #expect(throws: UserLookupError.noSuchUser("no-such-user-here")) {
            try accounts.account(of: "no-such-user-here")
        }
        accounts.update(["root"]) { (user) throws(UserLookupError) in
            throw .failed(user: user, error: Errno(rawValue: EIO))
        }
        #expect(try accounts.account(of: "root").userID == 0)
        accounts.update([])
        #expect(throws: UserLookupError.noSuchUser("root")) { try accounts.account(of: "root") }
    }
}
