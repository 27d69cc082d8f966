import Glibc
import LifecycleCore
import Processes
import Simulation
import TestSupport
import Testing

@testable import LifecycleDaemon

@Suite struct SavedStateTests {
    private let header = SavedState.header(bootID: thisBoot)

    private func read(_ bytes: [UInt8]) throws -> SavedState? {
        try withTemporaryDirectory { (root: String) throws in
            write(bytes, to: root + "/state")
            return try SavedState.read(root + "/state", bootID: thisBoot)
        }
    }

    private func frame(_ text: String) -> [UInt8] { StateFrames.frame(Array(text.utf8)) }

    private static let (a, b) = (AppID("a"), AppID("b"))

    @Test func lastRecordOfANameCountsUntilThereIsNone() throws {
        let state = try read(
            header + frame("launch a token=1\nlaunch b token=2\ndefinition a argument=x\nsession path=/1\n")
                + frame("launch a token=3\nno launch b\nno session\n"))
        #expect(state?[.definition, Self.a]?["argument"] == "x" && state?[.launch, Self.a]?["token"] == "3")
        #expect(state?.records.count == 2)
    }

    @Test func stepThatIsCutOffAtAnyByteIsTheStepBefore() throws {
        let first = header + frame("app a state=active\nlaunch a token=1\n")
        let second = frame("app a state=suspended\nno launch a\napp b state=active\n")
        let third = frame("app b state=suspended\n")
        let whole = first + second + third
        for count in header.count...whole.count {
            // Zeros follow: space that is reserved.
            for zeros in [0, 5000] {
                let state = try read(Array(whole.prefix(count)) + [UInt8](repeating: 0, count: zeros))
                let steps = [first.count, first.count + second.count, whole.count].count { $0 <= count }
                #expect(state?[.app, Self.a]?["state"] == [nil, "active", "suspended", "suspended"][steps])
                #expect(state?[.app, Self.b]?["state"] == [nil, nil, "active", "suspended"][steps])
                #expect((state?[.launch, Self.a] != nil) == (steps == 1), "\(count) bytes")
            }
        }
    }

    @Test(arguments: [
        "frame 3\n", "frame -1\n", "frame 99999999999999999999\n", "frame x\n", "frame 19", "frames 19\n",
    ])
    func nothingCountsAfterAFrameThatSaysAnotherSize(head: String) throws {
        let line = "app b state=active\n"
        let state = try read(
            header + frame("app a state=active\n") + Array("\(head)\(line)end 19\n".utf8) + frame(line))
        #expect(state?.apps(with: .app) == [Self.a])
    }

    @Test func transitionsAreKeptUntilTheyAreAnnounced() throws {
        let step = Transition(
            app: Self.a, from: .active, to: .inactive, reason: .displaced, instant: Instant(microseconds: 9),
            since: Instant(microseconds: 7), answerTime: nil)
        let line = String(
            decoding: StateLine(StateName(.transition, Self.a), Announcement.app(step).record).bytes, as: UTF8.self)
        let before = header + frame(line + line) + frame("announced\n")
        #expect(try read(before)?.announcements == [])
        #expect(try read(before + frame(line))?.announcements == [.app(step)])
    }

    @Test func malformedLinesAreIgnored() throws {
        let state = try read(
            header
                + frame("\n \n=\nweather x\nlaunch\nlaunch \nno\nno app\nno weather a\nlaunch % a=1\nlaunch a\n"))
        #expect(state?.apps(with: .launch).sorted().map(\.name) == ["%", "a"])
        #expect(state?.records.count == 2)
    }

    @Test(arguments: StateKind.allCases)
    func everyLineIsReadAsItWasWritten(kind: StateKind) {
        let values = [("front", "b"), ("front", "a b%\n"), ("empty", "")]
        let record = SavedRecord(fields: values.map { .init(name: $0.0, value: $0.1) })
        let name = StateName(kind, kind.hasName ? AppID("a b\n%") : nil)
        for line in [StateLine(name, record), StateLine(name, nil)] {
            #expect(line.bytes.dropLast().allSatisfy { $0 > 0x1f && $0 != 0x7f })
            #expect(StateLine(line.bytes.dropLast()) == line)
        }
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
