import Glibc
import TestSupport
import Testing

@testable import Configuration

@Suite struct FileTrustTests {
    @Test(arguments: [
        ("kim:x:1000:", true), ("root:x:0:\nkim:x:1000:\n", true), ("kim:x:1000:sam", false), ("kim:x:1000", false),
        ("sam:x:1001:", false), ("", false), ("kim:x:1000:sam\nother:x:1000:", false),
        ("kim:x:1000\nkim:x:1000:", true),
    ])
    func groupIsPrivateIfGroupFileNamesNoMember(_ text: String, _ isPrivate: Bool) {
        #expect(PrivateGroup.isWithoutMembers(1000, in: text) == isPrivate)
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func objection(to path: String) -> String? {
        do throws(Defect) {
            _ = try TextFile.readTrusted(path)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func aFileOfTheDaemonsUserIsUsed() throws {
        #expect(objection(to: try directory.write("a = 1", to: "d/file")) == nil)
        try directory.write("a = 1", to: "real/file")
        #expect(objection(to: try directory.link("links/way", to: "../real/file")) == nil)
        #expect(objection(to: try directory.link("links/mask", to: "/dev/null")) == nil)
        #expect(objection(to: "\(directory.path)/nothing") == nil)
    }

    @Test(arguments: [(0o664 as mode_t, "group"), (0o646, "every user"), (0o666, "every user")])
    func aFileThatOthersMayWriteToIsNot(_ mode: mode_t, _ word: String) throws {
        // A group of one's own is no other.
        if word == "group", geteuid() != 0 { return }
        let file = try directory.write("a = 1", to: "file", mode: mode)
        let complaint = try #require(objection(to: file))
        #expect(complaint.contains(word) && complaint.contains("may write to \(file); run 'chmod"))
    }

    @Test func aDirectoryThatOthersMayWriteToHasToBeSticky() throws {
        let file = try directory.write("a = 1", to: "open/inner/file")
        let open = "\(directory.path)/open"
        #expect(unsafe chmod(open, 0o777) == 0)
        #expect(try #require(objection(to: file)).contains("every user may write to \(open);"))
        #expect(unsafe chmod(open, 0o1777) == 0)
        #expect(objection(to: file) == nil)
    }

    @Test func theWayOfALinkIsLookedAtToo() throws {
        try directory.write("a = 1", to: "open/file")
        let link = try directory.link("links/file", to: "../open/../open/file")
        #expect(objection(to: link) == nil)
        #expect(unsafe chmod("\(directory.path)/open", 0o777) == 0)
        #expect(try #require(objection(to: link)).contains("may write to"))
        let through = try directory.link("way", to: "open")
        #expect(try #require(objection(to: "\(through)/file")).contains("may write to"))
    }

    @Test func fileAfterAnotherOfItsDirectoryIsLookedAtItself() throws {
        let file = try directory.write("a = 1", to: "d/file")
        let writable = try directory.write("a = 1", to: "d/writable", mode: 0o646)
        let elsewhere = try directory.write("a = 1", to: "open/file")
        let link = try directory.link("d/link", to: "../open/file")
        #expect(unsafe chmod("\(directory.path)/open", 0o777) == 0)
        #expect(objection(to: file) == nil)
        #expect(try #require(objection(to: writable)).contains("may write to \(writable)"))
        #expect(try #require(objection(to: link)).contains("may write to"))
        #expect(try #require(objection(to: elsewhere)).contains("may write to"))
    }

    @Test(.enabled(if: geteuid() == 0), arguments: ["d/file", "d", "link"])
    func fileOfAnotherUserIsNotUsed(_ name: String) throws {
        let file = try directory.write("a = 1", to: "d/file")
        let link = try directory.link("link", to: "d/file")
        let path = "\(directory.path)/\(name)"
        #expect(unsafe lchown(path, 65534, 65534) == 0)
        #expect(try #require(objection(to: link)).contains("\(path) belongs to user 65534"))
        #expect((objection(to: file) == nil) == (name == "link"))
    }
}
