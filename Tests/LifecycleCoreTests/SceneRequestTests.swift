import Testing

@testable import LifecycleCore

/// Requests for scenes, and their outcome when something else comes between.
@Suite struct SceneRequestTests {
    static let clock = SceneFixture.clock
    static let maps = AppID("maps")
    static let main = SceneID(ordinal: 1)
    static let second = SceneID(ordinal: 2)
    static let third = SceneID(ordinal: 3)

    /// Two apps side by side, of which the first has one scene.
    func home(_ front: Int = 1) -> World {
        var settings = Settings()
        settings.homeApp = Self.clock
        settings.foregroundLimit = front
        var world = World(apps: "clock", "maps", linked: true, settings: settings)
        var policy = Policy()
        policy.scenes = true
        policy.sceneLimit = 2
        policy.restart = .always
        world.ask(.kill(Self.clock))
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.kill(Self.clock))
        return world
    }

    // MARK: In the foreground

    @Test func `the only scene of the home app stays in the foreground while nothing else is there`() {
        var world = home()
        #expect(world.scenes("clock") == ["main": .foregroundActive])
        let alone = world.ask(.backgroundScene(Self.clock, Self.main))
        #expect(world.replies[alone] == .refused(.homeStaysInForeground(Self.clock)))
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        let one = world.ask(.backgroundScene(Self.clock, Self.second))
        #expect(world.replies[one]?.name == "done scene-2 background")
        var both = home(2)
        both.ask(.launch(Self.maps, background: false))
        let beside = both.ask(.backgroundScene(Self.clock, Self.main))
        #expect(both.replies[beside]?.name.hasPrefix("done main") == true)
    }

    @Test func `fewer scenes than there were in the foreground are there when the manifest says so`() {
        var world = SceneFixture.withTwoScenes(limit: 2)
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .foregroundActive])
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        #expect(world.scenes("clock") == ["main": .background, "scene-2": .foregroundActive])
        #expect(world.scene(Self.main)?.reason == .foregroundLimit)
    }

    @Test func `the scene that was in the foreground last is shown where none is in the foreground`() {
        var world = SceneFixture.withTwoScenes()
        world.pass(.seconds(1))
        world.ask(.focusScene(Self.clock, Self.main))
        #expect(world.scene(Self.second)?.lastInForeground == world.now)
        #expect(world.scene(Self.main)?.lastInForeground != world.now)
        world.pass(.seconds(1))
        world.ask(.backgroundScene(Self.clock, Self.main))
        #expect(world.scene(Self.main)?.lastInForeground == world.now)
        #expect(world.scene(Self.main)?.since == world.now)
        #expect(world.scene(Self.main)?.reason == .idle)
        world.ask(.focus(Self.clock))
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .background])
    }

    @Test(arguments: [Request.closeScene(clock, main), .backgroundScene(clock, main)])
    func sceneThatIsNotInTheForegroundDoesNotTakeItsAppFromThere(request: Request) {
        var world = SceneFixture.withTwoScenes()
        world.ask(.backgroundScene(Self.clock, Self.second))
        world.ask(.machine(.lock))
        let focus = world.ask(.focus(Self.clock))
        #expect(world.replies[focus]?.name == "refused foregroundBlocked")
        world.ask(request)
        #expect(world.core.foreground == [Self.clock])
        world.ask(.machine(.unlock))
        #expect(world.state("clock") == .active)
    }

    @Test func `reason of a step is cleared after the step`() {
        var world = SceneFixture.withTwoScenes()
        #expect(world.scene(Self.main)?.reason == .displaced)
        world.ask(.terminate(Self.clock))
        #expect(world.lines().contains("clock/main: background → unattached (terminate)"))
    }

    @Test func `a scene that was displaced and comes back at once comes for its app's reason`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillResignActive]
        world.ask(.focusScene(Self.clock, Self.main))
        world.ask(.focusScene(Self.clock, Self.second))
        _ = world.lines()
        world.answer(Self.clock)
        #expect(world.lines().first == "clock/scene-2: foregroundActive → foregroundInactive (focus)")
        #expect(world.scene(Self.second)?.state == .foregroundActive)
    }

    @Test func sceneThatWasSentBackComesAgainForItsAppsReason() {
        var world = SceneFixture.withTwoScenes()
        world.give(.beginTask(1, name: "upload"), from: Self.clock)
        world.ask(.backgroundScene(Self.clock, Self.second))
        #expect(world.state("clock") == .background)
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(world.lines().contains("clock/scene-2: background → foregroundInactive (focus)"))
    }

    @Test func suspendedAppOfWhichASceneIsClosedRunsForThat() {
        var world = SceneFixture.withTwoScenes()
        world.ask(.suspend(Self.clock))
        _ = world.lines()
        world.ask(.closeScene(Self.clock, Self.main))
        #expect(world.lines().contains("clock: suspended → background (closed)"))
        #expect(world.state("clock") == .suspended)
    }

    @Test func suspendedAppThatHearsNothingOfAClosedSceneKeepsItsReason() {
        var world = World(apps: "clock")
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        world.ask(.suspend(Self.clock))
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock") == ["main": .unattached])
        _ = world.lines()
        let close = world.ask(.closeScene(Self.clock, Self.main))
        #expect(world.lines() == ["reply \(close) done main unattached"])
        #expect(world.core.knownApps[Self.clock]?.desiredReason == .suspend)
    }

    @Test func `scene waits until the app in its foreground slot was told to resign`() {
        var world = SceneFixture.withTwoScenes()
        world.linked.insert(Self.maps)
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: false))
        world.silent[Self.maps] = [.openURL, .willResignActive]
        world.ask(.deliver(Self.maps, .openURL("lifed:1")))
        _ = world.lines()
        world.ask(.focus(Self.clock))
        #expect(world.state("clock") == .inactive)
        world.answerAll(Self.maps)
        #expect(world.state("clock") == .active)
    }

    // MARK: Answers

    @Test func `background-scene is answered when the scene is in the background`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillResignActive, .sceneDidEnterBackground]
        let back = world.ask(.backgroundScene(Self.clock, Self.second))
        #expect(world.replies[back] == nil)
        world.answerAll(Self.clock)
        #expect(world.replies[back]?.name == "done scene-2 background")
    }

    @Test func `background-scene of one of two scenes does not wait for the answer of the app`() {
        var world = SceneFixture.withTwoScenes(limit: 2)
        world.silent[Self.clock] = [.sceneDidEnterBackground]
        let back = world.ask(.backgroundScene(Self.clock, Self.second))
        #expect(world.replies[back]?.name == "done scene-2 background")
    }

    @Test func `closing a scene does not refuse a request for its app`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.ask(.closeScene(Self.clock, Self.main))
        let suspend = world.ask(.suspend(Self.clock))
        #expect(world.replies[suspend] == nil)
        world.answerAll(Self.clock)
        #expect(world.replies[suspend]?.doneApp == Self.clock)
    }

    @Test func `sent back while the app answers something else`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.openURL]
        world.ask(.deliver(Self.clock, .openURL("lifed:1")))
        let back = world.ask(.backgroundScene(Self.clock, Self.second))
        #expect(world.replies[back] == nil)
        world.answerAll(Self.clock)
        #expect(world.replies[back]?.name == "done scene-2 background")
    }

    @Test func `a scene that goes with its app is in the background`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillResignActive]
        let back = world.ask(.backgroundScene(Self.clock, Self.second))
        world.ask(.kill(Self.clock))
        #expect(world.replies[back]?.name == "done scene-2 unattached")
    }

    @Test func `connected is answered when the app has answered`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillConnect]
        let open = world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(world.replies[open] == nil)
        world.answer(Self.clock)
        #expect(world.replies[open]?.name == "done scene-3 background")
    }

    @Test func `an app that does not run is launched for a scene in the background`() {
        var world = SceneFixture.world()
        let open = world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(world.replies[open]?.name == "done main background")
        #expect(world.core.launch(of: Self.clock)?.reason == .scene)
        #expect(world.state("clock") == .suspended)
    }

    /// A world whose app has the scenes main and scene-2, both reclaimed.
    private func reclaimed() -> World {
        var world = SceneFixture.withTwoScenes()
        world.pass(.seconds(1))
        world.ask(.home)
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .unattached])
        return world
    }

    @Test func `app hears that a scene is closed which was disconnected before`() {
        var world = reclaimed()
        world.ask(.focusScene(Self.clock, Self.second))
        #expect(world.lines().contains("clock ← scene-did-disconnect main (reclaimed)"))
        world.give(.closeScene(Self.main), from: Self.clock)
        let told = "clock ← scene-did-disconnect main (closed)"
        #expect(world.lines().filter { $0.contains("main") } == [told])
        #expect(world.scenes("clock") == ["scene-2": .foregroundActive])
    }

    @Test func `close-scene of a disconnected scene is answered when the app has answered`() {
        var world = reclaimed()
        world.ask(.focusScene(Self.clock, Self.second))
        world.silent[Self.clock] = [.sceneDidDisconnect]
        let close = world.ask(.closeScene(Self.clock, Self.main))
        world.give(.closeScene(Self.main), from: Self.clock)
        #expect(world.replies[close] == nil)
        world.answer(Self.clock)
        #expect(world.replies[close]?.name == "done main unattached")
        #expect(world.lines().filter { $0.contains("scene-did-disconnect main (closed)") }.count == 1)
    }

    @Test(arguments: [false, true])
    func `scene that is closed while its disconnection may be lost is closed once for the app`(isHeard: Bool) {
        var world = reclaimed()
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.ask(.focusScene(Self.clock, Self.second))
        let last = world.core.knownApps[Self.clock]?.outbox.lastSequence ?? 0
        world.give(.closed, from: Self.clock)
        world.ask(.closeScene(Self.clock, Self.main))
        _ = world.lines()
        world.silent = [:]
        world.give(.reconnected(lastSequence: isHeard ? last : last - 1), from: Self.clock)
        world.answerAll(Self.clock)
        #expect(
            world.lines().filter { $0.contains("scene-did-disconnect main") } == [
                "clock ← scene-did-disconnect main (closed)"
            ])
        #expect(world.scenes("clock") == ["scene-2": .foregroundActive])
    }

    @Test func `app that has not heard of a scene hears nothing of its end`() {
        var world = reclaimed()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        world.pass(.seconds(1))
        world.ask(.openScene(Self.clock, SceneOpening(scene: Self.second), background: false))
        #expect(world.scenes("clock")["main"] == .unattached)
        _ = world.lines()
        let close = world.ask(.closeScene(Self.clock, Self.main))
        #expect(world.replies[close]?.name == "done main unattached")
        #expect(!world.lines().contains { $0.contains("scene-did-disconnect") })
    }

    @Test func `scene that has ended cannot be focused while its app has not answered`() {
        var world = reclaimed()
        world.ask(.focusScene(Self.clock, Self.second))
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.ask(.closeScene(Self.clock, Self.main))
        let focus = world.ask(.focusScene(Self.clock, Self.main))
        #expect(world.replies[focus] == .refused(.noSuchScene(Self.clock, Self.main)))
        world.answerAll(Self.clock)
        #expect(world.scenes("clock") == ["scene-2": .foregroundActive])
        #expect(world.lines().filter { $0.contains("scene-did-disconnect main (closed)") }.count == 1)
    }

    @Test func `app that connects after a scene was disconnected hears nothing of its end`() {
        var world = SceneFixture.world()
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.linked = []
        world.ask(.launch(Self.clock, background: false))
        world.ask(.openScene(Self.clock, SceneOpening(scene: Self.second), background: true))
        world.pass(.seconds(1))
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .unattached])
        world.give(.hello, from: Self.clock)
        world.answerAll(Self.clock)
        _ = world.lines()
        world.ask(.closeScene(Self.clock, Self.second))
        #expect(world.scenes("clock") == ["main": .foregroundActive])
        #expect(!world.lines().contains { $0.contains("scene-did-disconnect") })
    }

    @Test func `a session is closed without its app`() {
        var world = SceneFixture.withTwoScenes()
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        let close = world.ask(.closeScene(Self.clock, Self.main))
        #expect(world.replies[close]?.name == "done main unattached")
        #expect(world.scenes("clock") == ["scene-2": .unattached])
    }

    @Test func `impossible scene request is refused with a reason`() {
        var world = SceneFixture.withTwoScenes()
        for request in [Request.focusScene(Self.clock, Self.third), .closeScene(Self.clock, Self.third)] {
            #expect(world.replies[world.ask(request)] == .refused(.noSuchScene(Self.clock, Self.third)))
        }
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: false))
        #expect(world.replies[world.ask(.focusScene(Self.maps, Self.main))] == .refused(.noScenes(Self.maps)))
    }

    // MARK: Changes of mind

    @Test(arguments: [false, true])
    func `a scene that is being closed and is wanted again stays`(background: Bool) {
        var world = SceneFixture.withTwoScenes(limit: 2)
        world.silent[Self.clock] = [.sceneWillResignActive]
        let close = world.ask(.closeScene(Self.clock, Self.second))
        world.silent = [:]
        let opening = SceneOpening(scene: Self.second)
        let open = world.ask(.openScene(Self.clock, opening, background: background))
        world.answer(Self.clock)
        #expect(world.replies[close]?.name == "refused superseded")
        #expect(world.replies[open]?.name.hasPrefix("done scene-2") == true)
        #expect(world.scenes("clock")["scene-2"] == (background ? .background : .foregroundActive))
        #expect(world.scene(Self.second)?.reason != .closed)
    }

    @Test(arguments: [nil, Callback.sceneDidDisconnect])
    func `scene that its app opens after its end is a new one`(unanswered: Callback?) {
        var world = SceneFixture.withTwoScenes()
        world.give(.sceneInfo(Self.main, "old"), from: Self.clock)
        world.silent[Self.clock] = unanswered.map { [$0] } ?? []
        _ = world.lines()
        world.give(.closeScene(Self.main), from: Self.clock)
        world.give(.openScene(Self.main, role: "tool", info: "new"), from: Self.clock)
        world.silent = [:]
        world.answerAll(Self.clock)
        let told = world.lines().filter { $0.contains("connect main") }
        #expect(told == ["clock ← scene-did-disconnect main (closed)", "clock ← scene-will-connect main (app)"])
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .background])
        #expect(world.scene(Self.main)?.info == "new" && world.scene(Self.main)?.role == "tool")
    }

    @Test func `scene that its app opens while it is being connected stays`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillConnect]
        world.give(.openScene(Self.third, role: nil, info: "first"), from: Self.clock)
        world.give(.closeScene(Self.third), from: Self.clock)
        world.give(.openScene(Self.third, role: nil, info: "second"), from: Self.clock)
        world.answerAll(Self.clock)
        #expect(world.lines().filter { $0.contains("connect scene-3") } == ["clock ← scene-will-connect scene-3 (app)"])
        #expect(world.scene(Self.third)?.state != .unattached && world.scene(Self.third)?.info == "first")
    }

    @Test func `scene that is opened before its app has heard of its end is a new one`() {
        var world = reclaimed()
        world.withholding = [.resumed]
        let close = world.ask(.closeScene(Self.clock, Self.main))
        let opening = SceneOpening(scene: Self.main, role: nil, info: "new")
        let open = world.ask(.openScene(Self.clock, opening, background: true))
        world.withholding = []
        _ = world.lines()
        world.give(.resumed, of: Self.clock)
        let told = world.lines().filter { $0.contains("connect main") }
        #expect(told == ["clock ← scene-did-disconnect main (closed)", "clock ← scene-will-connect main (system)"])
        #expect(world.replies[close]?.name == "refused superseded")
        #expect(world.replies[open]?.name.hasPrefix("done main") == true)
        #expect(world.scene(Self.main)?.info == "new")
    }

    @Test func `a scene that is being closed can be brought to the foreground`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneWillResignActive]
        world.ask(.closeScene(Self.clock, Self.second))
        world.silent = [:]
        let focus = world.ask(.focusScene(Self.clock, Self.second))
        world.answer(Self.clock)
        #expect(world.replies[focus]?.name == "done scene-2 foregroundActive")
    }

    @Test func `a scene that was opened is connected, though its app was sent away first`() {
        var world = SceneFixture.world()
        world.withholding = [.spawned]
        world.ask(.openScene(Self.clock, SceneOpening(), background: false))
        world.ask(.home)
        world.give(.spawned, of: Self.clock)
        world.give(.hello, from: Self.clock)
        #expect(world.scenes("clock") == ["main": .suspended])
    }

    @Test func `leaving the last foreground scene cancels a restart in the foreground`() {
        var world = home(2)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.maps, policy))
        world.ask(.launch(Self.maps, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.maps) }
        #expect(world.core.returningApps == [Self.maps])
        world.ask(.closeScene(Self.clock, Self.main))
        world.pass(.seconds(1))
        #expect(world.state("maps") != .notRunning)
        #expect(!world.core.foreground.contains(Self.maps))
    }

    @Test func leavingOneOfTwoForegroundScenesCancelsNoRestart() {
        var world = home(2)
        var policy = Policy()
        policy.restart = .always
        world.give(.define(Self.maps, policy))
        world.ask(.openScene(Self.clock, SceneOpening(scene: Self.second), background: false))
        world.ask(.launch(Self.maps, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.maps) }
        world.ask(.closeScene(Self.clock, Self.second))
        #expect(world.core.returningApps == [Self.maps])
        world.pass(.seconds(1))
        #expect(world.core.foreground.contains(Self.maps))
    }

    @Test func sceneInTheBackgroundClearsTheFailures() {
        var world = SceneFixture.world()
        var policy = world.core.knownApps[Self.clock]?.policy ?? Policy()
        policy.restart = .always
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        for _ in 0..<2 { world.give(.exited(.signal(11), othersLeft: false), of: Self.clock) }
        #expect(world.core.deadline(.restart, of: Self.clock) != nil)
        world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(world.core.deadline(.restart, of: Self.clock) == nil)
        #expect(world.core.knownApps[Self.clock]?.restart == .steady)
    }

    @Test func `closed scene of a reply has its last state and target`() throws {
        var world = SceneFixture.withTwoScenes()
        let close = world.ask(.closeScene(Self.clock, Self.second))
        guard case .scene(let scene, let app)? = world.replies[close] else {
            Issue.record("\(String(describing: world.replies[close]))")
            return
        }
        #expect(scene.id == Self.second && scene.state == .unattached && scene.reason == .closed)
        #expect(app.sceneTarget(of: scene) == .unattached)
    }

    @Test func `a scene that its app has closed is gone though the app stops listening meanwhile`() {
        var world = SceneFixture.withTwoScenes()
        world.ask(.home)
        world.give(.memory(.veryShort))
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .unattached])
        world.withholding = [.resumed]
        let close = world.ask(.closeScene(Self.clock, Self.main))
        world.give(.closed, from: Self.clock)
        world.pass(AppMachine.exitTime)
        #expect(world.replies[close]?.name == "done main unattached")
        world.give(.resumed, of: Self.clock)
        world.pass(.seconds(5))
        #expect(world.state("clock") == .suspended)
    }
}
