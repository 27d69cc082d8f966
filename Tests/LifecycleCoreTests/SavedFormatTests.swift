import Simulation
import Testing

@testable import LifecycleCore

/// The format of saved records: those written here as text are read and written the same.
@Suite struct SavedFormatTests {
    typealias Fields = [(String, String)]

    static let editor = AppID("org.example.Editor")
    static let player = AppID("org.example.Player")
    static let reader = AppID("org.example.Reader")
    static let mail = AppID("org.example.Mail")
    static let chat = AppID("org.example.Chat")
    static let notes = SceneID("notes")

    static func seconds(_ seconds: Double) -> Instant { Instant(microseconds: UInt64(seconds * 1_000_000)) }

    // MARK: Records

    /// An active app with a scene and a task. It has not answered a memory warning, and was told to resign after that.
    static let activeEditor: Fields = [
        ("id", "org.example.Editor"), ("state", "active"), ("reason", "scene"), ("since", "1003000000"),
        ("wish", "run"), ("wish-reason", "displaced"),
        (
            "scene",
            "notes:panel:user:foregroundActive:scene:1003000000:2:~:~:draft 1"
        ),
        ("scene-front", "notes"), ("linked", "1"), ("scenes", "1"), ("been-in-front", "1"),
        ("last-in-front", "1005000000"), ("launched", "1003000000"), ("launch-reason", "scene"),
        ("has-launched", "1"), ("sequence", "7"), ("hold", "task:7:1004000000:save"),
        ("event", "2:open-url:text/html:org.example.Player:https\\://example.org/a b"),
        ("event", "3:perform-task:fetch:{}"), ("last-event", "3"), ("awaiting", "answer"),
        ("callback", "memory-warning"), ("told-sequence", "6"), ("told-event", "1:memory-warning"),
        ("answer-by", "1009000000"), ("told-state", "active"), ("sent", "1004000000"),
        ("resignation", "7:1006000000:1005000000:active:1:scene-will-resign-active:notes"),
        ("deadline", "answer:1009000000"), ("deadline", "resignation:1006000000"),
    ]

    /// The same app in the background, whose scene has not answered that it is there.
    static let backgroundEditor: Fields = [
        ("id", "org.example.Editor"), ("state", "background"), ("reason", "displaced"), ("since", "1005500000"),
        ("wish", "run"), ("wish-reason", "displaced"),
        (
            "scene",
            "notes:panel:user:background:displaced:1005500000:2:1005500000:~:draft 1"
        ),
        ("scene-front", "notes"), ("linked", "1"), ("scenes", "1"), ("been-in-front", "1"),
        ("last-in-front", "1005000000"), ("launched", "1003000000"), ("launch-reason", "scene"),
        ("has-launched", "1"), ("sequence", "8"), ("hold", "task:7:1004000000:save"),
        ("event", "2:open-url:text/html:org.example.Player:https\\://example.org/a b"),
        ("event", "3:perform-task:fetch:{}"), ("last-event", "3"), ("awaiting", "answer"),
        ("callback", "scene-did-enter-background"), ("told-sequence", "8"), ("told-scene", "notes"),
        ("answer-by", "1010500000"), ("told-state", "background"), ("sent", "1005500000"),
        ("deadline", "answer:1010500000"), ("deadline", "tasks:1035500000"),
    ]

    /// A background app with an activity and a task.
    static let backgroundPlayer: Fields = [
        ("id", "org.example.Player"), ("state", "background"), ("reason", "displaced"), ("since", "1001000000"),
        ("wish", "run"), ("wish-reason", "displaced"), ("linked", "1"), ("been-in-front", "1"),
        ("last-in-front", "1001000000"), ("launched", "1000000000"), ("launch-reason", "launch"),
        ("has-launched", "1"), ("sequence", "6"), ("hold", "activity:2:1001000000:audio"),
        ("hold", "task:3:1001000000:sync:all"), ("last-event", "1"), ("deadline", "tasks:1031000000"),
    ]

    static let suspendedReader: Fields = [
        ("id", "org.example.Reader"), ("state", "suspended"), ("reason", "idle"), ("since", "1002000000"),
        ("wish", "run"), ("wish-reason", "displaced"), ("linked", "1"), ("been-in-front", "1"),
        ("last-in-front", "1002000000"), ("launched", "1001000000"), ("launch-reason", "launch"),
        ("has-launched", "1"), ("sequence", "5"), ("last-event", "0"),
    ]

    static let spawningMail: Fields = [
        ("id", "org.example.Mail"), ("state", "notRunning"), ("reason", "none"), ("since", "1000000000"),
        ("wish", "run"), ("wish-reason", "interruption"), ("launched", "1005000000"), ("launch-reason", "launch"),
        ("sequence", "0"), ("last-event", "0"), ("awaiting", "spawn"), ("next", "inactive"),
    ]

    static let terminatingChat: Fields = [
        ("id", "org.example.Chat"), ("state", "terminating"), ("reason", "terminate"), ("since", "1004000000"),
        ("wish", "end"), ("wish-reason", "terminate"), ("been-in-front", "1"), ("last-in-front", "1003000000"),
        ("launched", "1002000000"), ("launch-reason", "launch"), ("sequence", "0"),
        ("ending", "background:unknown:terminate"), ("last-event", "0"), ("awaiting", "end"),
        ("deadline", "termination:1009000000"),
    ]

    static let machine: Fields = [
        ("front", "org.example.Mail"), ("place", "org.example.Editor"), ("interruption", "call"),
        ("memory-warned", "1004000000"), ("concealed", "locked"), ("returning", "org.example.Reader"),
    ]

    static let apps = [activeEditor, backgroundPlayer, suspendedReader, spawningMail, terminatingChat]

    static func record(_ fields: Fields) -> SavedRecord {
        SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) })
    }

    static func policy(of id: AppID) -> Policy {
        var policy = Policy()
        policy.scenes = id == editor
        policy.backgroundModes = ["audio"]
        return policy
    }

    /// Restores the records half a second after the last of them was written.
    static func core(_ apps: [Fields] = apps, machine: Fields = machine) -> Engine {
        Engine(
            restoring: record(machine), apps: apps.map(record), settings: Settings(), policy: policy(of:),
            at: seconds(1005.5))
    }

    static func app(_ fields: Fields) throws -> AppMachine {
        let apps = core([fields]).knownApps
        return try #require(apps.keys.first.flatMap { apps[$0] })
    }

    // MARK: Apps

    @Test func activeAppKeepsItsUnansweredCallbackAndTheResignationBehindIt() throws {
        let app = try Self.app(Self.activeEditor)
        let notes = try #require(Self.notes)
        #expect(app.state == .active && app.reason == .scene && app.since == Self.seconds(1003))
        let sentCallback = try #require(app.sentCallback)
        #expect(sentCallback.sent == Self.seconds(1004) && sentCallback.next == nil)
        #expect(sentCallback.delivery.callback == .memoryWarning && sentCallback.delivery.sequence == 6)
        #expect(sentCallback.delivery.deadline == Self.seconds(1009) && sentCallback.delivery.state == .active)
        #expect(sentCallback.delivery.event == QueuedEvent(number: 1, event: .notice(.memoryWarning)))
        let resignation = try #require(app.outbox.resignations.first)
        #expect(app.outbox.resignations.count == 1)
        #expect(resignation.delivery.pending == PendingCallback(.sceneWillResignActive, notes))
        #expect(resignation.delivery.sequence == 7 && resignation.delivery.deadline == Self.seconds(1006))
        #expect(resignation.sent == Self.seconds(1005) && resignation.next == .scene(.foregroundInactive))
        #expect(app.scenes[notes]?.state == .foregroundActive)
    }

    @Test func backgroundAppKeepsItsPendingCallbackTaskEventsAndScene() throws {
        let app = try Self.app(Self.backgroundEditor)
        let notes = try #require(Self.notes)
        #expect(app.state == .background && app.reason == .displaced && app.since == Self.seconds(1005.5))
        #expect(app.desired == .run && app.desiredReason == .displaced)
        let sentCallback = try #require(app.sentCallback)
        #expect(sentCallback.delivery.pending == PendingCallback(.sceneDidEnterBackground, notes))
        #expect(sentCallback.delivery.sequence == 8 && sentCallback.delivery.deadline == Self.seconds(1010.5))
        #expect(sentCallback.delivery.taskTime == .seconds(30))
        #expect(app.heldAssertions == [Assertion(kind: .task, number: 7, name: "save", since: Self.seconds(1004))])
        let page = AppEvent.openURL("https://example.org/a b", type: "text/html", source: "org.example.Player")
        let fetch = AppEvent.performTask(kind: "fetch", payload: "{}")
        #expect(app.events == [QueuedEvent(number: 2, event: page), QueuedEvent(number: 3, event: fetch)])
        #expect(app.outbox.lastEvent == 3 && app.outbox.lastSequence == 8)
        #expect(app.isReconnecting && app.launch.isComplete && app.hasScenes && app.wasInForeground)
        #expect(app.launch.reason == .scene && app.launched == Self.seconds(1003))
        #expect(app.lastInForeground == Self.seconds(1005))
        let scene = try #require(app.scenes[notes])
        #expect(app.scenes.all == [scene] && app.scenes.foreground == [notes])
        #expect(scene.role == "panel" && scene.info == "draft 1" && scene.origin == .user)
        #expect(scene.state == .background && scene.reason == .displaced && scene.since == Self.seconds(1005.5))
        #expect(scene.lastInForeground == Self.seconds(1005.5) && scene.isWanted && !scene.wasConnected)
    }

    @Test func backgroundAppKeepsItsAssertions() throws {
        let app = try Self.app(Self.backgroundPlayer)
        #expect(
            app.heldAssertions == [
                Assertion(kind: .activity, number: 2, name: "audio", since: Self.seconds(1001)),
                Assertion(kind: .task, number: 3, name: "sync:all", since: Self.seconds(1001)),
            ])
        #expect(app.phase == .running(.background, sentCallback: nil) && app.isReconnecting)
    }

    @Test func suspendedAppIsSuspended() throws {
        let app = try Self.app(Self.suspendedReader)
        #expect(app.phase == .suspended(isConfirmed: true) && app.reason == .idle)
        #expect(app.isReconnecting && app.lastInForeground == Self.seconds(1002))
    }

    @Test func spawningAppIsSpawning() throws {
        let app = try Self.app(Self.spawningMail)
        #expect(app.phase == .spawning(to: .inactive, nil) && app.state == .notRunning && app.isRunning)
        #expect(app.desired == .run && app.launched == Self.seconds(1005) && !app.isConnected)
    }

    @Test func terminatingAppKeepsTheAccountOfItsEnd() throws {
        let app = try Self.app(Self.terminatingChat)
        #expect(app.phase == .terminating(Termination(state: .background, reason: .terminate)))
        #expect(app.desired == .end)
    }

    @Test func deadlinesAreRestored() {
        let core = Self.core(Self.apps.dropFirst() + [Self.backgroundEditor])
        #expect(core.deadline(.answer, of: Self.editor) == Self.seconds(1010.5))
        #expect(core.deadline(.tasks, of: Self.editor) == Self.seconds(1035.5))
        #expect(core.deadline(.tasks, of: Self.player) == Self.seconds(1031))
        #expect(core.deadline(.termination, of: Self.chat) == Self.seconds(1009))
        #expect(core.deadline(.resignation, of: Self.editor) == nil)
        #expect(core.nextDeadline == Self.seconds(1009))
        #expect(Self.core().deadline(.resignation, of: Self.editor) == Self.seconds(1006))
    }

    // MARK: The machine

    @Test func machineKeepsForegroundSlotsInterruptionsAndBlockers() {
        let core = Self.core()
        #expect(core.foreground == [Self.mail])
        #expect(core.shared.activation.slots.map { core.knownApps[$0].id } == [Self.editor])
        #expect(Array(core.interruptions) == ["call"] && Array(core.foregroundBlockers) == [.locked])
        #expect(core.returningApps == [Self.reader])
        #expect(core.reclaimer.lastWarning == Self.seconds(1004))
        #expect(core.runningCount == 5 && core.shared.suspendedCount == 1)
    }

    // MARK: The way back

    @Test func recordsAreWrittenAsTheyWereRead() {
        let core = Self.core(Self.apps)
        for fields in Self.apps {
            let written = core.record(of: AppID(fields[0].1))
            #expect(written.map { Self.sorted($0) } == Self.sorted(Self.record(fields)))
        }
        let background = Self.core([Self.backgroundEditor]).record(of: Self.editor)
        #expect(background.map { Self.sorted($0) } == Self.sorted(Self.record(Self.backgroundEditor)))
        #expect(Self.sorted(core.record) == Self.sorted(Self.record(Self.machine)))
    }

    private static func sorted(_ record: SavedRecord) -> [String] {
        record.fields.map { "\($0.name)=\($0.value)" }.sorted()
    }

    // MARK: What follows

    @Test func daemonContinuesWhatTheOneBeforeWasDoing() throws {
        var core = Self.core(machine: Self.machine.filter { $0.0 != "concealed" && $0.0 != "interruption" })
        let now = Self.seconds(1005.5)
        // The editor did not receive its resignation.
        var messages = core.handle(.reconnected(lastSequence: 6), from: Self.editor, at: now).messages
        messages += core.handle(.reconnected(lastSequence: 6), from: Self.player, at: now).messages
        let ready = core.handle(.resumeRestored, at: now)
        messages += ready.messages
        #expect(ready.operations.contains(.spawn(try #require(core.index(of: Self.mail)))))
        #expect(ready.operations.contains(.terminate(try #require(core.index(of: Self.chat)))))
        #expect(ready.operations.contains(.stop(try #require(core.index(of: Self.reader)))))
        let told = messages.compactMap { if case .deliver(let app, let delivery) = $0 { (app, delivery) } else { nil } }
        #expect(told.map { core.id(of: $0.0) } == [Self.editor])
        #expect(told.map { $0.1.callback } == [.sceneWillResignActive] && told.first?.1.sequence == 7)
        _ = core.handle(.done(sequence: 7), from: Self.editor, at: now)
        _ = core.handle(.spawned, of: Self.mail, at: now)
        #expect(core.knownApps[Self.editor]?.state == .inactive)
        #expect(core.knownApps[Self.mail]?.state == .active)
        // The answer to the warning lets the editor leave the foreground.
        _ = core.handle(.done(sequence: 6), from: Self.editor, at: now)
        #expect(core.knownApps[Self.editor]?.state == .background)
        #expect(core.knownApps[Self.editor]?.sentCallback?.delivery.callback == .sceneDidEnterBackground)
    }
}
