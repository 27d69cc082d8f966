import Glibc
import LifecycleCore
import Processes
import Simulation
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite final class StateLogTests {
    private static let (clock, mail) = (AppID("clock"), AppID("mail"))
    /// Returns values of an app.
    private static func values(cpuWeight: Int = 20, launched: Instant? = nil) throws -> SavedResources {
        SavedResources(record: try record(cpuWeight: cpuWeight), launched: launched)
    }

    /// Returns a record with two nice values.
    private static func record(cpuWeight: Int = 20) throws -> ResourceRecord {
        var numbers = [cpuWeight, .min, .min, 10, 24576, 300, .min, 9, 2, 5, 6, 5, 0, 10, 7, 8, 9, -1, -5, 0, 0, 0][...]
        return try #require(ResourceRecord { numbers.popFirst().map { UInt64(bitPattern: Int64($0)) } })
    }

    private var core = Engine()

    private func open(
        _ path: String, log: RecordingJournal = RecordingJournal(), sizeLimit: Int = SavedState.sizeLimit
    ) throws -> StateLog {
        try StateLog(path: path, bootID: thisBoot, events: Events(), log: log, sizeLimit: sizeLimit)
    }

    private func begin(
        _ path: String, log: RecordingJournal = RecordingJournal(), sizeLimit: Int = SavedState.sizeLimit
    ) throws -> StateLog {
        let store = try open(path, log: log, sizeLimit: sizeLimit)
        store.begin()
        return store
    }

    private func handle(_ input: Input, _ store: StateLog) {
        let ready = core.handle(input, at: Instant(microseconds: 5))
        store.save(changesOf: &core, announcing: ready.announcements)
    }

    private func handle(_ outcome: Outcome, of id: AppID, _ store: StateLog) {
        let ready = core.handle(outcome, of: id, at: Instant(microseconds: 5))
        store.save(changesOf: &core, announcing: ready.announcements)
    }

    private func launch(_ id: AppID, _ store: StateLog) {
        handle(.define(id, Policy()), store)
        handle(.request(RequestID(1), .launch(id, background: false)), store)
        handle(.spawned, of: id, store)
    }

    private func restored(_ path: String) throws -> (state: SavedState, core: Engine) {
        let state = try #require(try SavedState.read(path, bootID: thisBoot))
        return (state, Self.core(of: state))
    }

    private static func core(of state: SavedState) -> Engine {
        Engine(
            restoring: state[.machine] ?? SavedRecord(),
            apps: state.apps(with: .app).sorted().map { ($0, state[.app, $0] ?? SavedRecord()) },
            settings: Settings(), policy: { _ in Policy() }, at: Instant(microseconds: 5))
    }

    private func expectSaved(_ path: String) throws {
        let saved = try restored(path).core
        #expect(saved.record == core.record)
        for id in core.knownApps.keys { #expect(saved.record(of: id) == core.record(of: id), "\(id)") }
    }

    @Test func eachChangeIsSavedAndTheFileStaysSmall() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            try expectSaved(path)
            launch(Self.mail, store)
            try expectSaved(path)
            for number in 2..<1000 {
                handle(.request(RequestID(UInt64(number)), .focus(number % 2 == 0 ? Self.clock : Self.mail)), store)
                if number % 7 == 0 { store.noteAnnounced() }
            }
            try expectSaved(path)
            var status = stat()
            #expect(unsafe stat(path, &status) == 0 && status.st_size < 300_000)
            store.end()
            #expect(names(in: root).isEmpty)
        }
    }

    /// A daemon may be killed at any byte of a step: the next one has the state before or after the step, of all apps alike.
    @Test func stepThatIsCutOffAnywhereIsTheStepBefore() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            for id in [Self.clock, Self.mail] { launch(id, store) }
            // What each step leaves, by the end of its frame.
            var ends: [(end: Int, core: Engine)] = []
            let end = {
                let bytes = try #require(try ReservedFile.contents(of: path, limit: 1 << 24))
                return bytes.firstIndex(of: 0) ?? bytes.count
            }
            ends.append((try end(), core))
            for (number, app) in [Self.clock, Self.mail].enumerated() {
                handle(.request(RequestID(UInt64(number + 2)), .focus(app)), store)
                ends.append((try end(), core))
            }
            let bytes = try #require(try ReservedFile.contents(of: path, limit: 1 << 24))
            let last = try #require(ends.last).end
            #expect(Set(ends.map(\.end)).count == 3)
            for count in ends[0].end...last {
                write(Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: 100), to: root + "/cut")
                let expected = try #require(ends.last { $0.end <= count }).core
                let saved = try restored(root + "/cut").core
                #expect(saved.record == expected.record && saved.records == expected.records, "\(count)")
            }
        }
    }

    @Test func nextDaemonGoesOnWithTheStateAndForgetsWhatItDoesNotRestore() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let former = try begin(path)
            launch(Self.clock, former)
            former.save(.resources, try Self.values().saved, of: Self.clock)
            former.save(.definition, SavedRecord(["argument": "true"]), of: AppID("lost"))
            let store = try open(path)
            store.restore(try restored(path).state)
            let core = core
            store.begin { core.hasRecord(of: $0) }
            try expectSaved(path)
            #expect(try restored(path).state[.resources, Self.clock] == Self.values().saved)
            #expect(try restored(path).state.apps(with: .definition).isEmpty)
            launch(Self.mail, store)
            try expectSaved(path)
        }
    }

    @Test func transitionsAreKeptUntilTheyAreAnnounced() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            var store = try begin(path)
            launch(Self.clock, store)
            let unannounced = try restored(path).state.announcements
            #expect(unannounced.count >= 2)
            store = try open(path)
            store.restore(try restored(path).state)
            store.begin()
            #expect(try restored(path).state.announcements == unannounced)
            store.noteAnnounced()
            #expect(try restored(path).state.announcements.isEmpty)
            handle(.request(RequestID(2), .suspend(Self.clock)), store)
            handle(.stopped, of: Self.clock, store)
            #expect(try !restored(path).state.announcements.isEmpty)
        }
    }

    @Test func recordsOfTheProcessesEndWithTheApp() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            store.save(.launch, SavedRecord(["token": "1"]), of: Self.clock)
            store.add(.resources, try Self.values(launched: Instant(microseconds: 5)).saved, of: Self.clock)
            var progress = ChannelProgress()
            (progress.version, progress.mistakes, progress.toldSequence, progress.process) = (1, 3, 41, 7)
            store.save(.channel, progress.saved, of: Self.clock)
            let state = try restored(path).state
            #expect(state[.channel, Self.clock].map { ChannelProgress($0) } == progress)
            let values = try Self.values(launched: Instant(microseconds: 5))
            #expect(state[.resources, Self.clock].flatMap { SavedResources($0) } == values)
            handle(.exited(.code(0), othersLeft: false), of: Self.clock, store)
            #expect(try restored(path).state.records.keys.filter { $0.app == Self.clock }.map(\.kind) == [.app])
            handle(.forget(Self.clock), store)
            #expect(core.knownApps.count == 0)
            #expect(try restored(path).state.records.keys.allSatisfy { $0.app == nil })
            // The index belongs to another app.
            launch(Self.mail, store)
            #expect(try restored(path).state.apps(with: .app) == [Self.mail])
            try expectSaved(path)
        }
    }

    /// A client defines an app before it launches it.
    @Test func definitionOfAProgramIsKeptUntilTheProgramIsForgotten() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            var policy = Policy()
            policy.isTransient = true
            store.save(.definition, SavedRecord(["argument": "true"]), of: Self.clock)
            handle(.define(Self.clock, policy), store)
            #expect(try restored(path).state[.definition, Self.clock] != nil)
            handle(.request(RequestID(1), .launch(Self.clock, background: false)), store)
            handle(.spawned, of: Self.clock, store)
            #expect(try restored(path).state[.definition, Self.clock] != nil)
            handle(.exited(.code(0), othersLeft: false), of: Self.clock, store)
            #expect(try restored(path).state[.definition, Self.clock] == nil)
        }
    }

    /// A program that clears temporary files may remove the spare. What is on file is whole, and goes on.
    @Test func removedSpareLosesNoStepAndIsMadeAnew() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            #expect(unsafe unlink(path + ".new") == 0)
            #expect(store.flush(), "everything is on file")
            #expect(store.objection != nil)
            launch(Self.mail, store)
            try expectSaved(path)
            #expect(store.makeRoom() == nil)
            #expect(unsafe access(path + ".new", F_OK) == 0)
            try expectSaved(path)
        }
    }

    @Test func nextDaemonTakesAStepAgainWhoseOutcomeWasNotSaved() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            let now = Instant(microseconds: 5)
            handle(.request(RequestID(2), .suspend(Self.clock, now: true)), store)
            _ = self.core.handle(.stopped, of: Self.clock, at: now)
            var core = try restored(path).core
            let clock = try #require(core.knownApps[Self.clock]).index
            #expect(core.handle(.resumeRestored, at: now).operations.contains(.stop(clock)))
            _ = core.handle(.stopped, of: Self.clock, at: now)
            #expect(core.knownApps[Self.clock]?.phase == .suspended(isConfirmed: true))

            handle(.request(RequestID(3), .focus(Self.clock)), store)
            _ = self.core.handle(.resumed, of: Self.clock, at: now)
            core = try restored(path).core
            #expect(core.handle(.resumeRestored, at: now).operations.contains(.resume(clock)))
            let announcements = core.handle(.resumed, of: Self.clock, at: now).announcements
            #expect(announcements.contains { if case .app(let step) = $0 { step.to == .active } else { false } })
        }
    }

    @Test func numbersThatAreNoResourcesAreIgnored() throws {
        let record = try Self.record()
        var numbers: [UInt64] = []
        record.forEachNumber { numbers.append($0) }
        for count in 0..<numbers.count {
            var rest = numbers.prefix(count)[...]
            #expect(ResourceRecord { rest.popFirst() } == nil, "\(count) of \(numbers.count)")
        }
        // The nice values of the profile and of the thread, and a number of values that are not there.
        for (index, number) in [(3, 100), (12, 100), (12, UInt64.max), (8, UInt64.max)] {
            var rest = numbers[...]
            rest[index] = number
            let read = ResourceRecord { rest.popFirst() }
            #expect(read == nil || read != record)
        }
    }

    @Test func appsAreRefusedWhileTheStateIsLarge() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (path, log) = (root + "/state", RecordingJournal())
            let store = try begin(path, log: log, sizeLimit: 1 << 20)
            launch(Self.clock, store)
            #expect(store.makeRoom() == nil)
            for number in 0..<6 {
                let record = SavedRecord(["environment": String(repeating: "x", count: 100_000)])
                store.save(.definition, record, of: AppID("app-\(number)"))
            }
            let objection = StartFailure.stateTooLarge(limit: 524_288)
            #expect(store.makeRoom() == objection && store.objection == objection)
            #expect(store.makeRoom() == objection)
            #expect(log.entries.map(\.id) == [.noRoomForState])
            try expectSaved(path)
            #expect(store.flush())
            for number in 0..<6 { store.save(.definition, nil, of: AppID("app-\(number)")) }
            #expect(store.makeRoom() == nil)
            #expect(log.entries.count == 2)
            try expectSaved(path)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a file system that is full"))
    func changesAreSavedOnAFullFileSystemAndAppsAreRefused() throws {
        try withSmallFileSystem { (root: String) throws in
            let path = root + "/state"
            let log = RecordingJournal()
            let store = try begin(path, log: log)
            launch(Self.clock, store)
            #expect(store.makeRoom() == nil)
            fill(root)
            var count = 0
            while store.makeRoom() == nil, count < 500 {
                count += 1
                launch(AppID("app-\(count)"), store)
            }
            #expect(count > 0 && count < 500 && store.objection != nil)
            try expectSaved(path)
            for number in 2..<200 {
                handle(
                    .request(RequestID(UInt64(number)), .focus(number % 2 == 0 ? Self.clock : AppID("app-1"))), store)
            }
            try expectSaved(path)
            #expect(!log.entries.contains { $0.message.contains("cannot save") })
            _ = unsafe unlink(root + "/ballast")
            #expect(store.makeRoom() == nil)
        }
    }
}
