import Simulation
import Testing

@testable import LifecycleCore

/// Rules about scenes, one by one.
@Suite struct SceneTests {
    static let clock = SceneFixture.clock
    static let maps = AppID("maps")

    private func scene(_ name: String) throws -> SceneID { try #require(SceneID(name)) }

    @Test func `every hop of a scene is an edge and leads to the target`() {
        for (from, isTerminating) in SceneState.allCases.flatMap({ [($0, false), ($0, true)] }) {
            for target in SceneState.allCases {
                var state = from
                var hops = 0
                while let next = state.next(toward: target, isTerminating: isTerminating) {
                    #expect(state.edge(to: next) != nil, "\(state) → \(next)")
                    state = next
                    hops += 1
                    guard hops < 6 else { break }
                }
                #expect(state == target, "\(from) → \(target)")
            }
        }
    }

    @Test func `a scene that is brought to the foreground is there, however few may be`() throws {
        let main = try scene("main")
        var scenes = Scenes()
        #expect(scenes.bringToForeground(main, limit: 0).isEmpty)
        #expect(scenes.foreground == [main])
    }

    @Test func `an app without scenes in its manifest has none`() {
        var world = World(apps: "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        #expect(world.scenes("maps") == [:])
        let request = world.ask(.openScene(Self.maps, SceneOpening(), background: false))
        #expect(world.replies[request] == .refused(.noScenes(Self.maps)))
    }

    @Test func `an interruption leaves the scenes in the foreground, and lets them go on`() {
        var world = SceneFixture.withTwoScenes()
        world.ask(.beginInterruption("call"))
        #expect(world.scenes("clock") == ["main": .background, "scene-2": .foregroundInactive])
        #expect(world.state("clock") == .inactive)
        world.ask(.endInterruption("call"))
        #expect(world.scenes("clock") == ["main": .background, "scene-2": .foregroundActive])
        #expect(world.state("clock") == .active)
    }

    @Test func `the next app is active only when the last active scene has resigned or its second is over`() throws {
        var world = SceneFixture.withTwoScenes(limit: 2)
        world.linked.insert(Self.maps)
        world.give(.define(Self.maps, Policy()))
        world.silent[Self.clock] = [.sceneWillResignActive]
        world.ask(.launch(Self.maps, background: false))
        world.pass(.milliseconds(999))
        #expect(world.state("maps") == .inactive)
        #expect(world.state("clock") == .active)
        world.pass(.milliseconds(1))
        #expect(world.state("maps") == .active)
        #expect(world.scenes("clock").values.allSatisfy { $0 != .foregroundActive })
    }

    @Test func `app that does not answer scene-did-enter-background is killed`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneDidEnterBackground]
        world.ask(.home)
        world.pass(.seconds(5))
        #expect(world.core.knownApps[Self.clock]?.lastExit?.reason == .backgroundTimeout)
    }

    @Test func `the scenes that were in the foreground come back with their app`() throws {
        var world = SceneFixture.withTwoScenes()
        world.ask(.focusScene(Self.clock, try scene("main")))
        world.ask(.home)
        world.ask(.focus(Self.clock))
        #expect(world.scenes("clock") == ["main": .foregroundActive, "scene-2": .background])
    }

    @Test func `background-scene of the only foreground scene suspends its app`() throws {
        var world = SceneFixture.withTwoScenes()
        world.ask(.backgroundScene(Self.clock, try scene("scene-2")))
        #expect(world.state("clock") == .suspended)
        #expect(world.scenes("clock") == ["main": .suspended, "scene-2": .suspended])
        world.ask(.focus(Self.clock))
        #expect(world.scenes("clock") == ["main": .background, "scene-2": .foregroundActive])
    }

    @Test func `scenes outlive a crash with their information, and not a request to terminate`() throws {
        var world = SceneFixture.withTwoScenes()
        let second = try scene("scene-2")
        world.give(.sceneInfo(second, "{\"page\":7}"), from: Self.clock)
        world.give(.exited(.signal(11), othersLeft: false), of: Self.clock)
        #expect(world.scenes("clock") == ["main": .unattached, "scene-2": .unattached])
        _ = world.lines()
        world.ask(.launch(Self.clock, background: false))
        #expect(world.lines().contains("clock ← scene-will-connect scene-2 (restoration)"))
        #expect(world.core.knownApps[Self.clock]?.scenes[second]?.info == "{\"page\":7}")
        world.ask(.terminate(Self.clock))
        #expect(world.scenes("clock") == [:])
    }

    @Test func `app opens and closes its own scenes`() throws {
        var world = SceneFixture.withTwoScenes()
        let third = try scene("third")
        world.give(.openScene(third, role: "panel", info: "x"), from: Self.clock)
        #expect(world.scenes("clock")["third"] == .foregroundActive)
        #expect(world.core.knownApps[Self.clock]?.scenes[third]?.role == "panel")
        world.give(.closeScene(third), from: Self.clock)
        #expect(world.scenes("clock")["third"] == nil)
        _ = world.lines()
        world.give(.closeScene(third), from: Self.clock)
        #expect(world.lines().count == 1, "what cannot be is said once, and leads to nothing else")
    }

    @Test func `no app has more sessions than there may be`() throws {
        var world = SceneFixture.withTwoScenes()
        for _ in 2..<Scenes.limit { world.ask(.openScene(Self.clock, SceneOpening(), background: true)) }
        #expect(world.scenes("clock").count == Scenes.limit)
        let request = world.ask(.openScene(Self.clock, SceneOpening(), background: true))
        #expect(world.replies[request] == .refused(.tooManyScenes(Self.clock, limit: Scenes.limit)))
    }

    @Test func `a process without the library goes through the same states`() {
        var world = World()
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.ask(.launch(Self.clock, background: false))
        #expect(world.scenes("clock") == ["main": .foregroundActive])
        world.ask(.home)
        world.pass(.seconds(5))
        #expect(world.scenes("clock") == ["main": .suspended])
    }

    @Test func `app that does not answer scene-did-disconnect in time gets SIGTERM`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneDidDisconnect]
        let request = world.ask(.terminate(Self.clock))
        #expect(world.replies[request] == nil)
        world.pass(.seconds(5))
        #expect(world.replies[request]?.doneApp == Self.clock)
    }

    @Test func `change of scenes in the manifest takes effect at the next launch`() {
        var world = World(apps: "maps", linked: true)
        world.ask(.launch(Self.maps, background: false))
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.maps, policy))
        let request = world.ask(.openScene(Self.maps, SceneOpening(), background: false))
        #expect(world.replies[request] == .refused(.noScenes(Self.maps)))
        world.ask(.terminate(Self.maps))
        world.ask(.launch(Self.maps, background: false))
        #expect(world.scenes("maps") == ["main": .foregroundActive])
    }

    @Test func `only the last scene that leaves the foreground is told how long tasks may take`() throws {
        var world = SceneFixture.withTwoScenes(limit: 2)
        world.silent[Self.clock] = [.sceneDidEnterBackground]
        world.ask(.home)
        var times: [Duration?] = []
        for _ in 0..<2 {
            let delivery = try #require(world.awaited(by: Self.clock))
            times.append(delivery.taskTime)
            world.give(.done(sequence: delivery.sequence), from: Self.clock)
        }
        #expect(times == [nil, Policy().timeouts.task])
    }

    @Test func `every active scene is told to resign at once, and the next app is active when each has answered`()
        throws
    {
        var world = SceneFixture.withTwoScenes(limit: 2)
        world.linked.insert(Self.maps)
        world.give(.define(Self.maps, Policy()))
        world.ask(.launch(Self.maps, background: true))
        world.silent[Self.clock] = [.sceneWillResignActive]
        _ = world.lines()
        world.ask(.focus(Self.maps))
        #expect(world.lines().filter { $0.hasPrefix("clock ← scene-will-resign-active") }.count == 2)
        world.give(.done(sequence: try #require(world.awaited(by: Self.clock)).sequence), from: Self.clock)
        #expect(world.state("maps") == .inactive)
        world.give(.done(sequence: try #require(world.awaited(by: Self.clock)).sequence), from: Self.clock)
        #expect(world.state("maps") == .active)
    }

    @Test(arguments: [false, true])
    func `running app hears of its scenes before SIGTERM, a suspended app does not`(sleeps: Bool) {
        var world = SceneFixture.withTwoScenes()
        if !sleeps { world.give(.beginTask(1, name: "save"), from: Self.clock) }
        world.ask(.home)
        #expect(world.state("clock") == (sleeps ? .suspended : .background))
        _ = world.lines()
        world.ask(.terminate(Self.clock))
        let lines = world.lines()
        let asked = lines.firstIndex(of: "terminate clock") ?? -1
        let told = lines[..<max(asked, 0)].contains { $0.hasPrefix("clock ← scene-did-disconnect") }
        #expect(asked >= 0)
        #expect(told == !sleeps)
    }

    @Test func `an app that is called back and ended again has all of the time once more`() {
        var world = SceneFixture.withTwoScenes()
        world.silent[Self.clock] = [.sceneDidDisconnect]
        world.ask(.terminate(Self.clock))
        world.pass(.seconds(2))
        world.ask(.launch(Self.clock, background: false))
        let request = world.ask(.terminate(Self.clock))
        world.pass(.milliseconds(2499))
        #expect(world.replies[request] == nil)
        world.pass(.milliseconds(1))
        #expect(world.replies[request]?.doneApp == Self.clock)
    }

    @Test(arguments: [true, false])
    func `app that does not end is killed after one termination timeout, scenes included`(answers: Bool) {
        var world = SceneFixture.withTwoScenes()
        if !answers { world.silent[Self.clock] = [.sceneDidDisconnect] }
        world.stubborn = [Self.clock]
        world.ask(.terminate(Self.clock))
        world.pass(.milliseconds(2500))
        #expect(world.state("clock") == .terminating)
        world.pass(.milliseconds(2499))
        #expect(!world.lines().contains("kill clock"))
        world.pass(.milliseconds(1))
        #expect(world.lines().contains("kill clock"))
    }

    @Test func `app with scenes that connects late becomes inactive for its launch callbacks`() {
        var world = SceneFixture.world(sceneLimit: 2)
        var policy = Policy()
        policy.scenes = true
        world.give(.define(Self.clock, policy))
        world.linked = []
        world.ask(.launch(Self.clock, background: false))
        world.silent[Self.clock] = [.willFinishLaunching]
        _ = world.lines()
        world.give(.hello, from: Self.clock)
        #expect(
            world.lines() == [
                "clock/main: foregroundActive → foregroundInactive (launch)", "clock: active → inactive (launch)",
                "clock ← will-finish-launching",
            ])
    }
}

extension World {
    /// What the app has been told and has not answered.
    fileprivate func awaited(by id: AppID) -> Delivery? {
        core.knownApps[id]?.phase.sentCallback?.delivery
    }

    @Test func sceneThatWasNotToldThatItIsActiveNeedNotBeToldThatItIsNot() {
        let clock = SceneFixture.clock
        var policy = Policy()
        policy.scenes = true
        var world = World()
        world.linked = [clock]
        world.give(.define(clock, policy))
        world.ask(.launch(clock, background: false))
        world.ask(.beginInterruption("call"))
        world = world.restored(policy)
        world.give(.define(AppID("maps"), Policy()))
        // It gets the URL before it is told that it is active again.
        world.silent[clock] = [.openURL]
        world.ask(.deliver(clock, .openURL("a:b")))
        world.ask(.endInterruption("call", answer: nil))
        world.give(.reconnected(lastSequence: world.sequence(of: clock)), from: clock)
        #expect(world.lines().last == "clock ← open-url" && world.scenes("clock") == ["main": .foregroundActive])
        world.ask(.launch(AppID("maps"), background: false))
        #expect(world.state("maps") == .active && world.scenes("clock") == ["main": .foregroundInactive])
        world.answer(clock)
        #expect(world.lines().filter { $0.hasPrefix("clock ←") } == ["clock ← scene-did-enter-background main"])
    }

    @Test func interruptedSceneTakesNoActivationSlot() {
        var world = SceneFixture.world()
        world.ask(.beginInterruption("call"))
        world.ask(.launch(SceneFixture.clock, background: false))
        #expect(world.scenes("clock") == ["main": .foregroundInactive])
        #expect(world.core.record["place"] == nil)
    }
}
