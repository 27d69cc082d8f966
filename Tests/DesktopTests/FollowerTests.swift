import ControlAPI
import LifecycleTypes
import Testing

@testable import Desktop

/// The requests to the daemon, for the observations of a source. Process 1 is the app one's, and so on; 9 is no app's.
@Suite struct FollowerTests {
    static let names: [Int64: String] = [1: "one", 2: "two", 3: "three"]

    /// A claim of an app id is that of the app of this id.
    static func app(of owner: Item.Owner, among names: [Int64: String] = names) -> String? {
        switch owner {
        case .process(let process), .claimedProcess(let process): names[process]
        case .claimedApp(let id): names.values.first { $0 == id }
        case .unknown: nil
        }
    }

    static func item(_ process: Int64, number: Int64? = nil) -> Item {
        Item(number: number ?? process, process: process, title: "")
    }

    static func screen(_ focus: Int64?, visible: [Int64] = []) -> Observation {
        Observation(
            focus: focus.map { .item(item($0)) } ?? .nothing, uses: [.visible: visible.map { item($0) }])
    }

    /// A follower with a daemon that answers at once, and what it was asked for beside whose processes are.
    struct World {
        var follower = Follower()
        var now: Int64 = 0
        var isBusy = false
        var finds: [Int64] = []
        var names = FollowerTests.names

        mutating func see(_ observation: Observation) -> [Follower.Step] {
            follower.observe(observation, at: now)
            return steps()
        }

        mutating func steps() -> [Follower.Step] {
            var steps: [Follower.Step] = []
            while let step = follower.next(at: now, isBusy: isBusy) {
                switch step {
                case .find(let key):
                    finds.append(key.owner.process ?? 0)
                    follower.setApp(FollowerTests.app(of: key.owner, among: names), of: key)
                    continue
                case .use(let use, let apps): follower.setReported(use, apps)
                case .focus, .home, .leave: break
                }
                steps.append(step)
            }
            return steps
        }

        /// Lets so much time pass that nothing may count as nothing.
        mutating func pause() -> [Follower.Step] {
            now += Follower.pause
            return steps()
        }
    }

    @Test func `the app with the focus comes to the foreground, once`() {
        var world = World()
        let seen = Self.screen(1, visible: [1, 2])
        #expect(world.see(seen) == [.use(.visible, ["one", "two"]), .focus("one", Self.item(1))])
        #expect(world.see(seen) == [])
        #expect(world.see(Self.screen(2, visible: [1, 2])) == [.focus("two", Self.item(2))])
        #expect(world.finds == [1, 2])
    }

    @Test func `a second window of the same app changes nothing`() {
        var world = World()
        _ = world.see(Self.screen(1, visible: [1]))
        let other = Observation(focus: .item(Self.item(1, number: 77)), uses: [.visible: [Self.item(1)]])
        #expect(world.see(other) == [])
    }

    @Test func `during a request only the newest of the others is kept`() {
        var world = World()
        _ = world.see(Self.screen(1))
        world.isBusy = true
        #expect(world.see(Self.screen(2)) == [])
        #expect(world.see(Self.screen(3)) == [])
        world.isBusy = false
        #expect(world.steps() == [.focus("three", Self.item(3))])
        world.isBusy = true
        _ = world.see(Self.screen(1))
        _ = world.see(Self.screen(3))
        world.isBusy = false
        #expect(world.steps() == [])
    }

    @Test func `nothing has to have the focus for a moment before that counts`() {
        var world = World()
        _ = world.see(Self.screen(1))
        #expect(world.see(Self.screen(nil)) == [])
        #expect(world.follower.deadline == Follower.pause)
        #expect(world.see(Self.screen(2)) == [.focus("two", Self.item(2))])
        #expect(world.follower.deadline == nil)
        #expect(world.see(Self.screen(nil)) == [])
        world.now += Follower.pause - 1
        #expect(world.steps() == [])
        world.now += 1
        #expect(world.steps() == [.home])
        #expect(world.follower.deadline == nil)
        #expect(world.pause() == [])
    }

    @Test func `an empty screen at the start sends no app away`() {
        var world = World()
        #expect(world.see(Self.screen(nil)) == [.use(.visible, [])])
        #expect(world.follower.deadline == nil)
        #expect(world.pause() == [])
        #expect(world.see(Self.screen(1)) == [.focus("one", Self.item(1))])
        _ = world.see(Self.screen(nil))
        #expect(world.pause() == [.home])
    }

    @Test func windowOfNoAppIsLeftAloneBesideVisibleApps() {
        var world = World()
        _ = world.see(Self.screen(1, visible: [1, 9]))
        #expect(world.see(Self.screen(9, visible: [1, 9])) == [.leave(Self.item(9))])
        #expect(world.see(Self.screen(9, visible: [9])) == [.use(.visible, []), .home, .leave(Self.item(9))])
        #expect(
            world.see(Self.screen(1, visible: [1])) == [.use(.visible, ["one"]), .focus("one", Self.item(1))])
    }

    @Test func `a process without an app is looked up again when it has the focus again`() {
        var world = World()
        _ = world.see(Self.screen(9, visible: [1, 9]))
        _ = world.see(Self.screen(9, visible: [1, 9]))
        #expect(world.finds == [9, 1])
        _ = world.see(Self.screen(1, visible: [1, 9]))
        _ = world.see(Self.screen(9, visible: [1, 9]))
        #expect(world.finds == [9, 1, 9])
    }

    @Test func `a process without an app is looked up again after an adoption`() {
        var world = World()
        _ = world.see(Self.screen(9, visible: [9, 1]))
        #expect(world.finds == [9, 1])
        world.follower.noteAdoption()
        #expect(world.steps() == [])
        #expect(world.finds == [9, 1, 9])
        world.names[9] = "nine"
        world.follower.noteAdoption()
        #expect(world.steps() == [.use(.visible, ["nine", "one"]), .focus("nine", Self.item(9))])
        world.follower.noteAdoption()
        #expect(world.steps() == [])
    }

    @Test func windowWithoutProcessBelongsToNoApp() {
        var world = World()
        let item = Item(number: 5, process: -3, title: "")
        #expect(world.see(Observation(focus: .item(item))) == [.leave(item)])
        #expect(world.finds == [])
    }

    @Test func `the next daemon is told everything again`() {
        var world = World()
        let steps = world.see(Self.screen(1, visible: [1, 2]))
        world.follower.loseDaemon()
        #expect(world.steps() == steps)
        #expect(world.finds == [1, 2, 1, 2])
    }

    @Test func `a closed window is not visible, and the foreground app stays there`() {
        var world = World()
        _ = world.see(Self.screen(1, visible: [1, 2]))
        world.follower.loseSource(at: 0)
        #expect(world.steps() == [.use(.visible, [])])
        #expect(
            world.see(Self.screen(1, visible: [1])) == [.use(.visible, ["one"]), .focus("one", Self.item(1))])
    }

    @Test func `sound says nothing of focus`() {
        var world = World()
        #expect(world.see(Observation(uses: [.playing: [Self.item(2), Self.item(9)]])) == [.use(.playing, ["two"])])
        #expect(world.pause() == [])
    }

    @Test func `no more apps are named than may be`() {
        var world = World()
        let many = (1...2000).map { Self.item(Int64($0)) }
        world.follower.observe(Observation(uses: [.visible: many]), at: 0)
        while case .find(let key) = world.follower.next(at: 0, isBusy: false) {
            world.follower.setApp("app-\(key.number)", of: key)
        }
        guard case .use(_, let apps) = world.follower.next(at: 0, isBusy: false) else {
            Issue.record("nothing is told")
            return
        }
        #expect(apps.count == SetInUseParameters.limit)
    }
}
