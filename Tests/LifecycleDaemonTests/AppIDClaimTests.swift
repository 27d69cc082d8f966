import LifecycleCore
import Testing

@testable import LifecycleDaemon

/// The app that a window means by its app id.
@Suite struct AppIDClaimTests {
    /// Returns the app for a claim among running ones, in the order of their ids, each with the class of its entry.
    private func find(_ claim: String, _ apps: KeyValuePairs<String, String?>) -> String? {
        AppIDClaim(claim).best(among: apps.map { (AppID($0.key), $0.value) })?.name
    }

    @Test func `an app is found by its id, in the same case first`() {
        #expect(find("org.example.Mail", ["a": nil, "org.example.Mail": nil]) == "org.example.Mail")
        #expect(find("org.example.mail", ["org.example.Mail": nil]) == "org.example.Mail")
        #expect(find("mail", ["Mail": nil, "mail": nil]) == "mail")
        #expect(find("mail.desktop", ["mail": nil]) == "mail")
        #expect(find("mail", ["mailer": nil, "e": nil]) == nil)
    }

    @Test func `an app is found by the class of its entry if no id fits`() {
        #expect(find("Navigator", ["org.mozilla.firefox": "Navigator"]) == "org.mozilla.firefox")
        #expect(find("navigator", ["org.mozilla.firefox": "Navigator"]) == "org.mozilla.firefox")
        #expect(find("navigator", ["a": "navigator", "Navigator": nil]) == "Navigator")
        #expect(find("navigator", ["a": "Navigator", "b": "navigator"]) == "b")
    }

    @Test func `of several instances the first that runs counts`() {
        #expect(find("mail", ["mail": nil, "mail-2": nil]) == "mail")
        #expect(find("mail", ["mail-10": nil, "mail-3": nil]) == "mail-3")
        #expect(find("mail-2", ["mail": nil, "mail-2": nil]) == "mail-2")
        #expect(find("Navigator", ["firefox-2": "Navigator", "firefox-3": "Navigator"]) == "firefox-2")
    }

    @Test(arguments: [
        "mail-1", "mail-0", "mail-02", "mail-x", "mail-", "mail-+2", "mail--2", "mail-99999999999999999999",
    ])
    func `another id is no instance`(id: String) {
        #expect(find("mail", [id: nil]) == nil)
    }

    @Test(arguments: ["", "-2", ".desktop", "\u{0}", "\u{301}", "a\u{301}.desktop", String(repeating: "é", count: 200)])
    func `a claim of any bytes finds nothing of others`(claim: String) {
        #expect(find(claim, ["mail": "Mail", "x-2": nil]) == nil)
    }
}
