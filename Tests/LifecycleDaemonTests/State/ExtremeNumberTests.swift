import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Simulation
import Systemd
import TestSupport
import Testing

@testable import LifecycleDaemon

/// A number of any size in what the previous daemon has saved, or in a file of the kernel, ends no daemon: the value is read or is missing.
@Suite struct ExtremeNumberTests {
    // MARK: Records

    /// The records of a real history, and what follows from each number in them.
    @Test(arguments: [3, 11] as [UInt64]) func numberInARecordOfTheCoreEndsNothing(seed: UInt64) {
        let scenario = Scenario(seed: seed)
        var machine = Machine(scenario.setup, chance: Chance(seed: 1))
        for step in scenario.steps.prefix(40) { machine.handle(step) }
        let (policies, shared, apps) = (machine.policies, machine.core.record, machine.core.records)
        func proceed(_ shared: SavedRecord, _ apps: [SavedRecord]) {
            var core = Engine(
                restoring: shared, apps: apps, settings: machine.settings, policy: { policies[$0] }, at: machine.now)
            Self.proceed(&core, at: machine.now)
        }
        #expect(!apps.isEmpty)
        for damaged in Self.damaged(shared) { proceed(damaged, apps) }
        for (index, record) in apps.enumerated() {
            for damaged in Self.damaged(record) { proceed(shared, apps[..<index] + [damaged] + apps[(index + 1)...]) }
        }
    }

    private static func damaged(_ record: SavedRecord) -> [SavedRecord] {
        ExtremeNumbers.damaged(String(decoding: record.bytes, as: UTF8.self)).map { SavedRecord(encoded: $0.utf8) }
    }

    /// What follows, until nothing is due any more, or for as long as an app may have to be waited for.
    private static func proceed(_ core: inout Engine, at now: Instant) {
        var time = now
        let reconnected = core.knownApps.values.filter(\.isReconnecting).map {
            Input.message($0.index, .reconnected(lastSequence: .max))
        }
        for input in reconnected + [.resumeRestored, .start] { tell(input, &core, at: time) }
        for _ in 0..<32 {
            guard let due = core.nextDeadline else { break }
            time = max(time, due)
            tell(.tick, &core, at: time)
        }
        let clock = ClockDifference()
        for app in core.knownApps.values {
            _ = clock.date(of: app.since)
            _ = (core.conditions(of: app.id), core.nextState(of: app.id), core.endOfBackgroundTime(of: app.id))
        }
        tell(.shutDown, &core, at: time)
    }

    private static func tell(_ input: Input, _ core: inout Engine, at time: Instant) {
        for case .deliver(_, let delivery) in core.handle(input, at: time).messages {
            let message = CallbackMessage(delivery, now: time, previousTime: .min, scene: nil)
            _ = try? MessageToApp.callback(message).encoded()
        }
    }

    @Test func numberInARecordOfTheShellEndsNothing() throws {
        let clock = AppID("clock")
        let progress = ChannelProgress(
            launched: Instant(microseconds: 7), version: 1, mistakes: 3, toldSequence: 9, process: 42)
        for damaged in Self.damaged(progress.saved) { _ = ChannelProgress(damaged) }
        let record = try #require(ResourceRecord { 1 })
        let resources = SavedResources(record: record, launched: Instant(microseconds: 7))
        for damaged in Self.damaged(resources.saved) { _ = SavedResources(damaged) }
        let step = Transition(
            app: clock, from: .active, to: .inactive, reason: .displaced, instant: Instant(microseconds: 9),
            since: Instant(microseconds: 7), answerTime: .milliseconds(1))
        for damaged in Self.damaged(try #require(Announcement.app(step).record)) {
            guard case .app(let step)? = Announcement(of: clock, damaged) else { continue }
            _ = (step.stateTime.wholeMicroseconds, step.answerTime?.wholeMicroseconds)
        }
    }

    @Test func sizeOfAFrameEndsNothing() {
        for text in ExtremeNumbers.damaged("frame 14\nno app clock\n\nend 14\n") {
            _ = StateFrames.lines(in: Array(text.utf8)[...])
        }
    }

    // MARK: Lines

    nonisolated private static let lines = [
        "launch a token=12-34 main=1234:99 cgroup=app-1 exit-policy=last launched=7 held-before=7:8 main-ended=core:11"
            + " taken-in=1 origin=1 owner=1000 stray=9:10 unit=1 held-signal=10 user=1000 adoption-time=9",
        "launch a token=12-34 main=1234:99 main-ended=code:3",
        "definition a manifest=command=[\"x\"]%0Asaved.userID=1000%0Asaved.groups=[1000]%0AsceneLimit=3"
            + "%0AbackgroundTime=\"5000000us\"%0AterminationTimeout=\"5s\"%0AlaunchTimeout=20"
            + "%0Asaved.confinement=\"7,1,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\"",
        "ended a time=1700000000000000 user=1000 exit=7000000:active:signal:11:crash reclaim-candidates=3"
            + " reclaim-freed=4096",
        "exit a exit=7000000:active:signal:11:crash time=1700000000000000",
    ]

    /// What the daemon does with each line of the state file, and of the records of single apps.
    @Test(arguments: lines) @MainActor func numberInALineEndsNothing(line: String) throws {
        try withTemporaryDirectory { (root: String) throws in
            for text in ExtremeNumbers.damaged(line) {
                let state = SavedState(StateLine.read(Array("\(text)\n".utf8)[...]))
                for app in state.apps(with: .launch) {
                    _ = state[.launch, app].flatMap { LaunchRecord($0, desiredState: .running) }?.saved
                }
                for app in state.apps(with: .definition) {
                    let saved = state[.definition, app]
                    guard let definition = saved.flatMap({ AppDefinition(saved: $0, defaults: Policy()) }) else {
                        continue
                    }
                    _ = definition.saved(app)
                    Self.live(by: definition.policy)
                }
                let directory = AppRecords.Directory(path: root, isSystem: false, log: RecordingJournal())
                let ended = EndedApps(store: try StateLog(), records: AppRecords("ended", of: .ended, in: directory))
                ended.restore(state.apps(with: .ended).map { ($0, state[.ended, $0] ?? SavedRecord()) })
                if let record = ended[AppID("a")] { _ = (record.time / 1_000_000, record.exit, record.reclaimed) }
                guard line.hasPrefix("exit") else { continue }
                _ = unsafe mkdir("\(root)/exits", 0o700)
                LifecycleDaemonTests.write(Array("\(text)\n".utf8), to: "\(root)/exits/a")
                let exits = LastExits(records: AppRecords("exits", of: .exit, in: directory))
                if let exit = exits.recall(AppID("a")) { _ = exits.time(of: exit, AppID("a")) }
            }
        }
    }

    /// An app that is launched, comes back, and is terminated with these times.
    private static func live(by policy: Policy) {
        let clock = AppID("clock")
        var core = Engine()
        var time = Instant(microseconds: 1 << 40)
        let requests: [Request] = [
            .launch(clock, background: false), .background(clock), .focus(clock), .terminate(clock),
        ]
        tell(.define(clock, policy), &core, at: time)
        tell(.start, &core, at: time)
        for (number, request) in requests.enumerated() {
            tell(.request(RequestID(UInt64(number)), request), &core, at: time)
            if let app = core.index(of: clock) { tell(.outcome(app, .spawned), &core, at: time) }
            for _ in 0..<4 {
                guard let due = core.nextDeadline else { break }
                time = max(time, due)
                tell(.tick, &core, at: time)
            }
        }
    }

    // MARK: Apps

    nonisolated private static let messages = [
        "hello protocol=1 resume=7", "done seq=1 handled=yes", "begin-task id=1 name=upload", "end-task id=1",
        "begin-activity id=2 mode=audio", "end-activity id=2", "open-scene scene=2", "scene-info scene=2 info=1",
        "welcome protocol=1 app-id=a", "open-url seq=2 deadline-ms=5000 state=inactive url=a:1",
        "granted id=1 time-left-ms=5",
        "refused id=1 reason=x", "expire-task id=1 deadline-ms=5000", "time-left ms=1",
    ]

    /// What the daemon does with each line of an app, and the library with each line of the daemon.
    @Test(arguments: messages) func numberInALineOnTheChannelEndsNothing(line: String) {
        let clock = AppID("clock")
        for text in ExtremeNumbers.damaged(line) {
            if let message = try? MessageToApp(parsing: Array(text.utf8)[...]) { _ = try? message.encoded() }
            guard let message = try? MessageFromApp(parsing: Array(text.utf8)[...]) else { continue }
            _ = try? message.encoded()
            var core = Engine()
            var policy = Policy()
            policy.scenes = true
            policy.backgroundModes = ["audio"]
            for input in [.define(clock, policy), .start, .request(RequestID(1), .launch(clock, background: false))]
                as [Input]
            {
                Self.tell(input, &core, at: Instant(microseconds: 0))
            }
            guard let app = core.index(of: clock) else { continue }
            for input in [
                .outcome(app, .spawned), .message(app, .hello), .message(app, AppMessage(message)), .shutDown,
            ] as [Input] {
                Self.tell(input, &core, at: Instant(microseconds: 1))
            }
        }
    }

    // MARK: The kernel

    @Test func numberInAPressureFileEndsNothing() {
        let pressure =
            "some avg10=1.50 avg60=0.00 avg300=0.00 total=12345\nfull avg10=0.10 avg60=0.00 avg300=0.00 total=99\n"
        let meminfo = "MemTotal:       24683520 kB\nMemAvailable:   12000000 kB\nSwapFree:        1000 kB\n"
        let usual = MemoryReading(instant: 1_000_000, pressure: pressure, meminfo: meminfo)
        let texts =
            ExtremeNumbers.damaged(pressure).map { ($0, meminfo) }
            + ExtremeNumbers.damaged(meminfo).map { (pressure, $0) }
        for (pressure, meminfo) in texts {
            for instant in [0, 1_500_000, .max] as [UInt64] {
                let reading = MemoryReading(instant: instant, pressure: pressure, meminfo: meminfo)
                for (earlier, later) in [(usual, reading), (reading, usual)] {
                    let pressure = MemoryPressure(since: earlier, reading: later, thresholds: MemoryThresholds())
                    _ = (pressure.shortage.words, pressure.level(toldOf: .critical, MemoryThresholds()))
                }
            }
        }
    }

    @Test(arguments: ["app-gnome-org.example.Clock-1234.scope", "app-org.example.Clock@1234.service"])
    func numberInTheNameOfAUnitEndsNothing(name: String) {
        for damaged in ExtremeNumbers.damaged(name) { _ = AppUnitName(damaged) }
    }
}
