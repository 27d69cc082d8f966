import Testing

@testable import LifecycleCore

/// All that is known of an app goes into its record, and comes out as it was.
@Suite struct SavedAppTests {
    static let clock = AppID("clock")
    static let main = SceneID(ordinal: 1)

    static func time(_ microseconds: UInt64) -> Instant { Instant(microseconds: microseconds) }

    /// An app of which everything is other than it is by itself.
    static func app(_ awaiting: Awaiting?, state: AppState = .background) -> App {
        var app = App(id: clock, policy: Policy(), since: time(1))
        app.state = state
        app.reason = .wake
        app.lastExit = Exit(state: .active, reason: .crash, status: .signal(11), instant: time(2))
        app.reclaimed = Reclaimed(cause: .pressure("short"), order: [clock])
        (app.isLinked, app.isAway, app.mayHaveHeard) = (true, true, true)
        (app.wish, app.wishReason) = (.end(atOnce: true), .terminate)
        (app.keepsAwake, app.isWoken, app.isStoppedByOther) = (true, true, true)
        (app.lastInFront, app.hasBeenInFront) = (time(3), true)
        (app.use, app.lastInUse) = (.visible, time(15))
        (app.failures, app.isGivenUp) = (7, true)
        app.awaiting = awaiting
        app.owed = [Notice(.didFinishLaunching), Notice(.sceneWillConnect, main)]
        app.lastSequence = 8
        app.holds = [Hold(kind: .task, number: 1, name: "a:b", since: time(4))]
        (app.hasLaunched, app.runsWithScenes) = (true, true)
        app.scenes = scenes
        app.events = [QueuedEvent(number: 4, event: .memoryWarning)]
        var task = Delivery(sequence: 6, callback: .performTask, deadline: time(5), state: .background)
        task.event = QueuedEvent(number: 3, event: .performTask(kind: "fetch"))
        app.task = task
        (app.lastEvent, app.launchEvent, app.launchURL, app.hasDeclined) = (4, 2, "lifed:1", true)
        app.ending = Ending(state: .background, reason: .taskTimeout, status: .code(3))
        (app.launched, app.launchReason) = (time(6), .url)
        return app
    }

    static var scenes: Scenes {
        var scene = Scene(id: main, role: "panel", info: "x", origin: .system, since: time(7))
        (scene.state, scene.reason, scene.wishReason) = (.background, .scene, .displaced)
        (scene.lastInFront, scene.wasConnected, scene.isWanted) = (time(8), true, true)
        var other = Scene(id: SceneID(ordinal: 2), role: "window", info: nil, origin: .app, since: time(9))
        other.isClosing = true
        var scenes = Scenes()
        scenes.all = [scene, other]
        scenes.front = [main]
        return scenes
    }

    static func told(_ callback: Callback, about change: (inout Delivery) -> Void = { _ in }) -> Delivery {
        var delivery = Delivery(sequence: 7, callback: callback, deadline: time(10), state: .inactive)
        change(&delivery)
        return delivery
    }

    static let awaited: [Awaiting?] = [
        nil, .stop, .resume, .end, .spawn(to: .inactive),
        .answer(told(.didBecomeActive), sent: time(11), to: nil),
        .answer(told(.willEnterForeground), sent: time(12), to: .app(.inactive)),
        .answer(
            told(.sceneWillConnect) { $0.scene = SceneNews(scene: main, reason: "person") }, sent: time(13),
            to: .scene(.background)),
        .answer(
            told(.openURL) { $0.event = QueuedEvent(number: 1, event: .openURL("a:b")) }, sent: time(14), to: nil),
    ]

    @Test(arguments: awaited.indices)
    func `an app that runs is restored as it was`(index: Int) {
        var app = Self.app(Self.awaited[index])
        if app.isSpawning {
            (app.state, app.task) = (.notRunning, nil)
            app.scenes.update(Self.main) { $0.state = .unattached }
        }
        let record = app.saved(deadlines: Deadlines())
        let restored = App(saved: record, policy: { _ in Policy() }, now: Self.time(99))
        #expect(restored == app)
    }

    @Test(arguments: AppState.allCases)
    func `an app that is said to be starting is, if it does not run and comes to where apps start`(state: AppState) {
        for next in AppState.allCases {
            let record = Self.app(.spawn(to: next), state: state).saved(deadlines: Deadlines())
            let restored = App(saved: record, policy: { _ in Policy() }, now: Self.time(99))
            let makesSense = state == .notRunning && [.inactive, .background].contains(next)
            #expect(restored?.isSpawning == makesSense)
            #expect(restored?.isRunning == (makesSense || state != .notRunning))
            #expect((restored?.task != nil) == (restored?.state.isAlive == true))
        }
    }

    @Test func `of an app that does not run is kept what its next launch needs`() {
        let app = Self.app(nil, state: .notRunning)
        let restored = App(saved: app.saved(deadlines: Deadlines()), policy: { _ in Policy() }, now: Self.time(99))
        var expected = App(id: Self.clock, policy: Policy(), since: Self.time(1))
        (expected.reason, expected.lastExit, expected.reclaimed) = (.wake, app.lastExit, app.reclaimed)
        (expected.wish, expected.wishReason) = (.end(atOnce: true), .terminate)
        (expected.failures, expected.isGivenUp) = (7, true)
        expected.scenes = Scenes(saved: app.saved(deadlines: Deadlines()), of: .notRunning, now: Self.time(99))
        #expect(expected.scenes.all.map(\.state) == [.unattached, .unattached])
        #expect(restored == expected)
    }

    @Test func `every deadline is restored, and none that makes no sense`() {
        var deadlines = Deadlines()
        for (index, kind) in DeadlineKind.allCases.enumerated() {
            deadlines.set(kind, Self.clock, at: Self.time(UInt64(100 + index)))
        }
        for state in [AppState.background, .notRunning] {
            var record = Self.app(nil, state: state).saved(deadlines: deadlines)
            for text in ["answer", "answer:x", "answer:1:2", "nothing:1"] { record.add("deadline", text) }
            var restored = Deadlines()
            restored.restore(Self.clock, from: record)
            for kind in DeadlineKind.allCases {
                #expect(restored.instant(kind, Self.clock) == deadlines.instant(kind, Self.clock))
            }
        }
    }

    @Test func `what keeps an app awake ends, even if its record does not say when`() {
        let app = Self.app(nil)
        let now = Self.time(99)
        let core = Lifecycle(
            restoring: SavedRecord(), apps: [app.saved(deadlines: Deadlines())], settings: Settings(),
            policy: { _ in Policy() }, at: now)
        for kind in [DeadlineKind.performTask, .woken, .tasks] {
            #expect(core.deadlines.instant(kind, Self.clock) == now + .seconds(30))
        }
    }

    @Test func `an app that nobody has asked for has no record`() {
        var world = World(apps: "clock", "maps")
        #expect(world.core.record(of: Self.clock) == nil && world.core.record(of: AppID("mail")) == nil)
        world.ask(.launch(Self.clock, background: true))
        #expect(world.core.record(of: Self.clock) != nil)
        world.ask(.terminate(Self.clock))
        #expect(world.core.record(of: Self.clock) != nil)
        world.broken = [AppID("maps")]
        world.ask(.launch(AppID("maps"), background: true))
        #expect(world.core.record(of: AppID("maps")) != nil)
    }

    // MARK: Records that say less, or too much

    static func restored(_ fields: (String, String)...) -> App? {
        let record = SavedRecord(fields: fields.map { .init(name: $0.0, value: $0.1) })
        return App(saved: record, policy: { _ in Policy() }, now: time(99))
    }

    @Test func `a record that says nothing is that of an app that does not run`() throws {
        #expect(Self.restored() == nil && Self.restored(("id", "")) == nil)
        let app = App(id: Self.clock, policy: Policy(), since: Self.time(99))
        #expect(try #require(Self.restored(("id", "clock"))) == app)
        #expect(Self.restored(("id", "clock"), ("state", "active"))?.wish == .run)
        #expect(Self.restored(("id", "clock"), ("state", "terminating"))?.wish == .rest)
        #expect(Self.restored(("id", "clock"), ("failures", "5000"))?.failures == 1000)
    }

    static let last: UInt64 = 0x3FFF_FFFF_FFFF_FFFF
    static let sequences: [(UInt64, UInt64)] = [(last, last), (last + 1, 0), (.max, 0)]

    @Test(arguments: sequences)
    func `there are always numbers left to count on`(saved: UInt64, restored: UInt64) {
        #expect(Self.restored(("id", "clock"), ("sequence", String(saved)))?.lastSequence == restored)
    }

    @Test func `what is awaited fits the state`() {
        #expect(Self.restored(("id", "clock"), ("state", "notRunning"), ("awaiting", "stop"))?.awaiting == nil)
        #expect(Self.restored(("id", "clock"), ("state", "terminating"), ("awaiting", "stop"))?.awaiting == .end)
        let answer = [
            ("id", "clock"), ("state", "active"), ("awaiting", "answer"), ("callback", "did-become-active"),
            ("answer-by", "1"), ("told-state", "active"),
        ]
        for (rest, isAwaited) in [([], false), ([("linked", "1")], true)] as [([(String, String)], Bool)] {
            let record = SavedRecord(fields: (answer + rest).map { .init(name: $0.0, value: $0.1) })
            let app = App(saved: record, policy: { _ in Policy() }, now: Self.time(99))
            #expect((app?.awaiting != nil) == isAwaited)
        }
    }

    static let possible: [(AppState, SceneState, SceneState)] = [
        (.notRunning, .background, .unattached), (.terminating, .foregroundActive, .unattached),
        (.suspended, .foregroundActive, .suspended), (.suspended, .unattached, .unattached),
        (.background, .suspended, .background), (.background, .foregroundInactive, .background),
        (.inactive, .foregroundActive, .foregroundInactive), (.inactive, .background, .background),
        (.active, .suspended, .background), (.active, .foregroundActive, .foregroundActive),
    ]

    @Test(arguments: possible)
    func `a scene is where its app lets it be`(app: AppState, saved: SceneState, restored: SceneState) {
        var scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        scene.state = saved
        var record = SavedRecord()
        record.add("scene", scene.text)
        #expect(Scenes(saved: record, of: app, now: Self.time(9)).all.map(\.state) == [restored])
    }

    @Test func `a scene that is gone and has not been forgotten keeps no app awake`() {
        var scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        scene.isClosing = true
        let known = [
            ("id", "clock"), ("state", "background"), ("wish", "run"), ("launched", "1"), ("scenes", "1"),
            ("scene", scene.text),
        ]
        var world = World()
        world.core = Lifecycle(
            restoring: SavedRecord(), apps: [SavedRecord(fields: known.map { .init(name: $0.0, value: $0.1) })],
            settings: Settings(), policy: { _ in Policy() }, at: Self.time(1))
        world.give(.takeOver)
        #expect(world.state("clock") == .suspended)
        #expect(world.scenes("clock").isEmpty)
    }

    @Test(arguments: [(0, "a b"), (1, "a b"), (2, "nobody"), (3, "nowhere")])
    func `a scene of which a part makes no sense is none`(part: Int, value: String) {
        let scene = Scene(id: Self.main, role: "panel", info: nil, origin: .app, since: Self.time(1))
        var parts = scene.text.words(separator: "\u{1F}", maxSplits: 9)
        #expect(Scene(text: parts.joined(separator: "\u{1F}"), now: Self.time(9)) == scene)
        parts[part] = value
        #expect(Scene(text: parts.joined(separator: "\u{1F}"), now: Self.time(9)) == nil)
    }

    @Test(arguments: [(Scene.infoLimit, true), (Scene.infoLimit + 1, false)])
    func `what a scene shows is restored up to its limit`(count: Int, isKept: Bool) {
        let info = String(repeating: "x", count: count)
        let scene = Scene(id: Self.main, role: "panel", info: info, origin: .app, since: Self.time(1))
        #expect(Scene(text: scene.text, now: Self.time(9))?.info == (isKept ? info : nil))
    }

    @Test(arguments: ["", "7", "x", "7\u{1F}", "7\u{1F}nothing", "x\u{1F}memory-warning"])
    func `an event of which nothing is said is none`(text: String) {
        #expect(QueuedEvent(text: text) == nil)
    }

    // MARK: Which records have changed

    @Test func `each change of an app is noted once`() {
        var world = World(apps: "clock", "maps")
        _ = world.core.takeChangedApps()
        #expect(world.core.takeChangedApps() == [])
        world.ask(.launch(Self.clock, background: true))
        #expect(world.core.takeChangedApps() == [Self.clock])
        #expect(world.core.takeChangedApps() == [])
        // Its time is over, and that is all that changes first.
        world.pass(.seconds(5))
        #expect(world.core.takeChangedApps() == [Self.clock])
    }

    @Test func `each change of a deadline is noted once`() {
        var deadlines = Deadlines()
        deadlines.clear(.answer, Self.clock)
        #expect(deadlines.takeTouched().isEmpty)
        deadlines.set(.answer, Self.clock, at: Self.time(1))
        #expect(Array(deadlines.takeTouched()) == [Self.clock])
        #expect(deadlines.takeTouched().isEmpty)
        deadlines.clear(.answer, Self.clock)
        #expect(Array(deadlines.takeTouched()) == [Self.clock])
        deadlines.set(.answer, Self.clock, at: Self.time(1))
        _ = deadlines.takeTouched()
        #expect(deadlines.popDue(Self.time(1))?.kind == .answer)
        #expect(Array(deadlines.takeTouched()) == [Self.clock])
    }

    @Test func `deadlines that were set again and again do not pile up`() {
        var deadlines = Deadlines()
        for number in 0..<10_000 { deadlines.set(.answer, Self.clock, at: Self.time(UInt64(1 + number % 7))) }
        deadlines.set(.answer, Self.clock, at: Self.time(9))
        for number in 0..<10_000 {
            deadlines.set(.tasks, Self.clock, at: Self.time(UInt64(100 + number % 7)))
            deadlines.clear(.tasks, Self.clock)
        }
        #expect(deadlines.entryCount < 100)
        #expect(deadlines.earliest == Self.time(9))
    }
}
