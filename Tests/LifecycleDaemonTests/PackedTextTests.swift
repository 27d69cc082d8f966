import Testing

@testable import LifecycleDaemon

@Suite struct PackedTextTests {
    @Test(arguments: [[], [""], ["", ""], ["/bin/sh", "-c", "a b"], ["ö", "e\u{301}", "\u{0}", "a\u{0}b"]])
    func wordsAreReadAsTheyWereWritten(words: [String]) {
        #expect(PackedWords(words).all == words)
        #expect(PackedWords(words).all.map { Array($0.utf8) } == words.map { Array($0.utf8) })
    }

    @Test(arguments: ["/etc/lifed/apps.d/clock.toml", "clock.toml", "/", "", "/a/", "/\u{301}x/y"])
    func pathIsReadAsItWasWritten(path: String) {
        var packed = PackedPath(path)
        #expect(packed.path == path)
        packed.shareDirectory(with: PackedPath("/etc/lifed/apps.d/mail.toml"))
        #expect(packed.path == path)
    }
}
