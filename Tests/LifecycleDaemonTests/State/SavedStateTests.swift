import Glibc
import LifecycleCore
import Processes
import TestSupport
import Testing

@testable import LifecycleDaemon

@Suite struct SavedStateTests {
    private let header = SavedState.header(bootID: thisBoot)

    private func read(_ bytes: [UInt8]) throws -> SavedState? {
        try withTemporaryDirectory { (root: String) throws in
            write(bytes, to: root + "/state")
            write(emptySlots, to: root + "/state.slots")
            return try SavedState.read(root + "/state", bootID: thisBoot)
        }
    }

    private func read(_ text: String) throws -> SavedState? { try read(header + Array(text.utf8)) }

    @Test func lastEntryOfAKindAndAnAppCounts() throws {
        let state = try read(
            "launch id=a token=1\nlaunch id=b token=2\ndefinition id=a argument=x\nlaunch id=a token=3\nforget id=b\n")
        #expect(state?.apps.keys.map(\.name) == ["a"])
        #expect(state?.apps[AppID("a")]?.definition?["argument"] == "x")
        #expect(state?.apps[AppID("a")]?.launch?["token"] == "3")
    }

    @Test func lineThatWasCutOffIsIgnoredAndEarlierLinesCount() throws {
        let text = "definition id=a argument=x\nlaunch id=a token=1\nforget id=a\n"
        let lines = text.split(separator: "\n")
        for length in 0...text.utf8.count {
            let state = try read(String(decoding: text.utf8.prefix(length), as: UTF8.self))
            let whole = text.utf8.prefix(length).count { $0 == UInt8(ascii: "\n") }
            let app = state?.apps[AppID("a")]
            #expect((app?.definition != nil) == (1..<lines.count).contains(whole), "\(length) bytes")
            #expect((app?.launch != nil) == (2..<lines.count).contains(whole), "\(length) bytes")
        }
    }

    @Test func malformedLinesAreIgnored() throws {
        let state = try read(
            "\n \n=\nweather id=x\nlaunch\nlaunch id=\nlaunch token=1\nplace\nlaunch id=%\nsession\nlaunch id=a\n")
        #expect(state?.apps.keys.sorted().map(\.name) == ["%", "a"])
        #expect(state?.cgroups == nil)
    }

    @Test func garbageIsRefusedOrIgnored() throws {
        var random = SeededGenerator(seed: 1)
        for length in [0, 1, 10, 1000, 100_000] {
            let garbage = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: DaemonError.self) { try read(garbage) }
            _ = try read(header + garbage)
        }
        #expect(throws: DaemonError.self) { try read(Array(header.dropLast())) }
    }

    @Test func anotherFormatIsRefusedAndAnotherBootIsIgnored() throws {
        let other = String(decoding: header, as: UTF8.self).replacing("format=", with: "format=1")
        let error = #expect(throws: DaemonError.self) { try read(Array(other.utf8)) }
        #expect(error?.description.contains("/state: it was written by a version of lifed") == true)
        #expect(try read(SavedState.header(bootID: "another")) == nil)
        let elsewhere = SavedState.header(bootID: thisBoot, namespaces: "pid:[1] time:[2]")
        #expect(throws: DaemonError.self) { try read(elsewhere) }
        #expect(try read(header) != nil)
        #expect(try SavedState.read("/nowhere/state", bootID: thisBoot) == nil)
    }

    @Test func fileThatAnotherUserMayWriteToIsRefused() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            write(header, to: path)
            write(emptySlots, to: path + ".slots")
            for mode in [0o602, 0o620, 0o666, 0o644] {
                _ = unsafe chmod(path, mode_t(mode))
                #expect(throws: DaemonError.self) { try SavedState.read(path, bootID: thisBoot) }
            }
            _ = unsafe chmod(path, 0o600)
            #expect(try SavedState.read(path, bootID: thisBoot) != nil)
            guard geteuid() == 0 else { return }
            _ = unsafe chown(path, 12345, 12345)
            let error = #expect(throws: DaemonError.self) { try SavedState.read(path, bootID: thisBoot) }
            #expect(error?.description.contains(path) == true)
        }
    }

    @Test func pathThatIsNoRegularFileIsRefusedAtOnce() throws {
        try withTemporaryDirectory { (root: String) throws in
            write(header, to: root + "/elsewhere")
            _ = unsafe symlink("elsewhere", root + "/link")
            _ = unsafe mkfifo(root + "/fifo", 0o600)
            _ = unsafe mkdir(root + "/directory", 0o700)
            for name in ["link", "fifo", "directory"] {
                let error = #expect(throws: DaemonError.self, "\(name)") {
                    try SavedState.read("\(root)/\(name)", bootID: thisBoot)
                }
                #expect(error?.description.contains("\(root)/\(name)") == true)
            }
        }
    }
}

/// A file of slots without records.
private nonisolated let emptySlots = SlotFormat.header(SavedState.slotsHeader(bootID: thisBoot), key: 1)
