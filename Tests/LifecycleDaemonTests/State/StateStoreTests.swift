import Glibc
import LifecycleCore
import Processes
import Simulation
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct StateStoreTests {
    private final class Source: StateSource {
        var core = Engine()
        var unannounced: [Announcement] = []
        var stateToSave: [(StateKind, SavedRecord)] = []
        var channelsToSave: [(AppIndex, ChannelProgress)] = []
        var resourcesToSave: [(AppIndex, SavedResources)] = []

        func listState(_ save: (StateKind, SavedRecord) -> Void) {
            for (kind, record) in stateToSave { save(kind, record) }
        }
    }

    private static let (clock, mail) = (AppID("clock"), AppID("mail"))
    /// Returns values of the app clock.
    private static func values(cpuWeight: Int = 20, launched: Instant? = nil) throws -> SavedResources {
        SavedResources(app: clock, record: try record(cpuWeight: cpuWeight), launched: launched)
    }

    /// Returns a record with two nice values.
    private static func record(cpuWeight: Int = 20) throws -> ResourceRecord {
        var numbers = [cpuWeight, .min, .min, 10, 24576, 300, .min, 9, 2, 5, 6, 5, 0, 10, 7, 8, 9, -1, -5, 0, 0, 0][...]
        return try #require(ResourceRecord { numbers.popFirst().map { UInt64(bitPattern: Int64($0)) } })
    }

    private let source = Source()

    /// Returns the index of the app clock.
    private func index() throws -> AppIndex { try #require(source.core.knownApps[Self.clock]).index }

    private func begin(
        _ path: String, log: RecordingJournal = RecordingJournal(), sizeLimit: Int = SavedState.sizeLimit
    ) throws -> FileStateStore {
        let store = try FileStateStore(
            path: path, bootID: thisBoot, loop: EventLoop(), log: log, sizeLimit: sizeLimit)
        store.source = source
        store.begin()
        return store
    }

    private func handle(_ input: Input, _ store: FileStateStore) {
        save(source.core.handle(input, at: Instant(microseconds: 5)), store)
    }

    private func handle(_ outcome: Outcome, of id: AppID, _ store: FileStateStore) {
        save(source.core.handle(outcome, of: id, at: Instant(microseconds: 5)), store)
    }

    private func save(_ effects: [Effect], _ store: FileStateStore) {
        store.record(changesOf: &source.core)
        store.save(announcing: effects)
    }

    private func launch(_ id: AppID, _ store: FileStateStore) {
        handle(.define(id, Policy()), store)
        handle(.request(RequestID(1), .launch(id, background: false)), store)
        handle(.spawned, of: id, store)
    }

    private func restored(_ path: String) throws -> (state: SavedState, core: Engine) {
        let state = try #require(try SavedState.read(path, bootID: thisBoot))
        return (
            state,
            Engine(
                restoring: state.machine, apps: state.apps.values.compactMap(\.core), settings: Settings(),
                policy: { _ in Policy() }, at: Instant(microseconds: 5))
        )
    }

    private func expectSaved(_ path: String) throws {
        let core = try restored(path).core
        #expect(core.record == source.core.record)
        for id in source.core.knownApps.keys { #expect(core.record(of: id) == source.core.record(of: id), "\(id)") }
    }

    @Test func storeThatGoesOnWithReadSlotsSavesLikeOneThatReadsThem() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let values = try Self.values()
            let former = try begin(path)
            launch(Self.clock, former)
            source.resourcesToSave = [(try index(), values)]
            former.add(values, at: try index())
            former.commit()
            let saved = try #require(try SavedState.read(path, bootID: thisBoot))
            let store = try FileStateStore(path: path, bootID: thisBoot, loop: EventLoop(), log: RecordingJournal())
            store.source = source
            let size = try SlotContents(
                path: SavedState.slotsPath(path), header: SavedState.slotsHeader(bootID: thisBoot))?.end
            #expect(saved.slots != nil)
            store.begin(with: saved.slots)
            try expectSaved(path)
            launch(Self.mail, store)
            handle(.request(RequestID(2), .background(Self.clock)), store)
            try expectSaved(path)
            #expect(try SavedState.read(path, bootID: thisBoot)?.apps[Self.clock]?.resources?.record == values.record)
            let end = try SavedState.read(path, bootID: thisBoot)?.slots?.end
            // The slots of before are used again; another app and its transitions need more.
            #expect(end == size.map { $0 + 2 * SlotFormat.slotSize(0) })
        }
    }

    @Test func fileOfManyFormerAppsIsReplacedBySmallOneAtStart() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            var store = try begin(path)
            for number in 0..<300 { launch(AppID("app-\(number)"), store) }
            source.core = Engine()
            store = try begin(path)
            launch(Self.clock, store)
            var saved = try #require(try SavedState.read(path, bootID: thisBoot))
            #expect(try #require(saved.slots).end > 1 << 18)
            store = try FileStateStore(path: path, bootID: thisBoot, loop: EventLoop(), log: RecordingJournal())
            store.source = source
            store.begin(with: saved.slots)
            try expectSaved(path)
            saved = try #require(try SavedState.read(path, bootID: thisBoot))
            #expect(try #require(saved.slots).end < 1 << 14)
            #expect(names(in: root).filter { $0.hasPrefix("state.slots") } == ["state.slots"])
            launch(Self.mail, store)
            try expectSaved(path)
        }
    }

    @Test func eachChangeIsSavedInSlots() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            try expectSaved(path)
            launch(Self.mail, store)
            try expectSaved(path)
            var status = stat()
            _ = unsafe stat(path, &status)
            let size = status.st_size
            for number in 2..<400 {
                handle(.request(RequestID(UInt64(number)), .focus(number % 2 == 0 ? Self.clock : Self.mail)), store)
            }
            try expectSaved(path)
            _ = unsafe stat(path, &status)
            #expect(status.st_size == size, "a change of focus leaves nothing in the text")
            store.end()
            #expect(names(in: root).isEmpty)
        }
    }

    @Test func transitionsAreKeptUntilTheyAreAnnounced() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            var store = try begin(path)
            launch(Self.clock, store)
            let unannounced = try restored(path).state.unannounced
            #expect(unannounced.count >= 2)
            source.unannounced = unannounced
            store = try begin(path)
            #expect(try restored(path).state.unannounced == unannounced)
            store.noteAnnounced()
            #expect(try restored(path).state.unannounced.isEmpty)
            source.unannounced = []
            handle(.request(RequestID(2), .suspend(Self.clock)), store)
            handle(.stopped, of: Self.clock, store)
            #expect(try !restored(path).state.unannounced.isEmpty)
        }
    }

    @Test func resourcesAreInASlotOfTheirOwn() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            for number in 1...50 {
                let instant = Instant(microseconds: UInt64(number))
                store.add(try Self.values(cpuWeight: number, launched: instant), at: try index())
                if number % 3 > 0 { store.commit() }
            }
            let read = try restored(path).state.apps[Self.clock]?.resources
            #expect(try read?.record == Self.record(cpuWeight: 50))
            #expect(read?.launched == Instant(microseconds: 50))
        }
    }

    @Test func nextDaemonTakesTheStepAgainThatWasRepliedToAndNotSaved() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            let now = Instant(microseconds: 5)
            handle(.request(RequestID(2), .suspend(Self.clock, now: true)), store)
            _ = source.core.handle(.stopped, of: Self.clock, at: now)
            var core = try restored(path).core
            let clock = try #require(core.knownApps[Self.clock]).index
            #expect(core.handle(.resumeRestored, at: now).contains(.stop(clock)))
            _ = core.handle(.stopped, of: Self.clock, at: now)
            #expect(core.knownApps[Self.clock]?.phase == .suspended(isConfirmed: true))

            handle(.request(RequestID(3), .focus(Self.clock)), store)
            _ = source.core.handle(.resumed, of: Self.clock, at: now)
            core = try restored(path).core
            #expect(core.handle(.resumeRestored, at: now).contains(.resume(clock)))
            let effects = core.handle(.resumed, of: Self.clock, at: now)
            #expect(effects.contains { if case .transition(let step) = $0 { step.to == .active } else { false } })
        }
    }

    @Test func resourcesAreReadFromTheirSlotUntilThereAreNone() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            store.add(try Self.values(), at: try index())
            store.commit()
            #expect(try restored(path).state.apps[Self.clock]?.resources?.record == Self.values().record)
            // The next daemon without the values removes the slot.
            _ = try begin(path)
            #expect(try restored(path).state.apps[Self.clock]?.resources == nil)
        }
    }

    @Test func channelIsReadFromItsSlotUntilTheAppIsForgotten() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            var state = ChannelProgress()
            (state.version, state.mistakes, state.toldSequence, state.process) = (1, 3, 41, 7)
            state.launched = Instant(microseconds: 9)
            store.save(state, of: Self.clock, at: try index())
            #expect(try restored(path).state.apps[Self.clock]?.channel == state)
            // The next daemon has it in its slot, and removes the slot with the app.
            source.channelsToSave = [(try index(), state)]
            let next = try begin(path)
            #expect(try restored(path).state.apps[Self.clock]?.channel == state)
            handle(.forget(Self.clock), next)
            handle(.exited(.code(0), othersLeft: false), of: Self.clock, next)
            #expect(try restored(path).state.apps.isEmpty)
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

    @Test func forgottenAppIsInNoFile() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            store.save(.launch, SavedRecord(["id": "clock", "token": "1"]))
            store.add(try Self.values(), at: try index())
            handle(.forget(Self.clock), store)
            handle(.exited(.code(0), othersLeft: false), of: Self.clock, store)
            #expect(source.core.knownApps.count == 0)
            #expect(try restored(path).state.apps.isEmpty)
            // The index, and perhaps the slots, belong to another app.
            launch(Self.mail, store)
            #expect(try restored(path).state.apps.keys.map(\.name) == ["mail"])
            try expectSaved(path)
        }
    }

    @Test func slotsBelongToTheirStateFile() throws {
        try withTemporaryDirectory { (root: String) throws in
            let path = root + "/state"
            let store = try begin(path)
            launch(Self.clock, store)
            _ = unsafe chmod(path + ".slots", 0o660)
            let error = #expect(throws: DaemonError.self) { try SavedState.read(path, bootID: thisBoot) }
            #expect(error?.description.contains("state.slots") == true)
            _ = unsafe unlink(path + ".slots")
            #expect(throws: DaemonError.self) { try SavedState.read(path, bootID: thisBoot) }
        }
    }

    @Test func appsAreRefusedWhileTheStateIsLarge() throws {
        try withTemporaryDirectory { (root: String) throws in
            let (path, log) = (root + "/state", RecordingJournal())
            let store = try begin(path, log: log, sizeLimit: 1 << 20)
            launch(Self.clock, store)
            #expect(store.makeRoom() == nil)
            for number in 0..<6 {
                let text = String(repeating: "x", count: 100_000)
                let definition = (StateKind.definition, SavedRecord(["id": "app-\(number)", "environment": text]))
                source.stateToSave.append(definition)
                store.save(definition.0, definition.1)
            }
            let objection = StartFailure.stateTooLarge(limit: 524_288)
            #expect(store.makeRoom() == objection && store.objection == objection)
            #expect(store.makeRoom() == objection)
            #expect(log.entries.map(\.id) == [.noRoomForState])
            try expectSaved(path)
            #expect(store.flush())
            source.stateToSave = []
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
