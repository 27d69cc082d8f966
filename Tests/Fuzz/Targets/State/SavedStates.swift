import AppChannel
import Configuration
import LifecycleCore
import Processes

@testable import LifecycleDaemon

extension FuzzTarget {
    /// The lines of a step, and the same bytes as the frames of a log.
    static let state = FuzzTarget("state", takesList: true) { bytes in
        _ = StateFrames.lines(in: bytes[...])
        let lines = StateLine.read(bytes[...])
        for line in lines { checkLine(line) }
        let state = SavedState(lines)
        check(state)
        for announcement in state.announcements { checkTransition(announcement) }
        for id in state.apps(with: .channel) { checkChannel(ChannelProgress(state[.channel, id] ?? SavedRecord())) }
        for id in state.apps(with: .resources) {
            let resources = SavedResources(state[.resources, id] ?? SavedRecord())
            require(resources == resources.flatMap { SavedResources($0.saved) }, "resources are found again")
        }
        for id in state.apps(with: .launch) { checkLaunch(state[.launch, id] ?? SavedRecord()) }
        for id in state.apps(with: .definition) {
            let definition = state[.definition, id].flatMap { AppDefinition(saved: $0, defaults: Policy()) }
            if let definition { checkDefinition(definition, id) }
        }
    }

    private static func check(_ state: SavedState) {
        let machine = engine(
            state[.machine] ?? SavedRecord(),
            state.apps(with: .app).sorted().map { id in
                (id, state[.app, id] ?? SavedRecord())
            })
        require(machine.foreground.count <= machine.settings.foregroundLimit, "the foreground has a limit")
        for app in machine.knownApps.values { checkScenes(of: app) }
        // What makes no sense is left out at first, and apps of which nothing is to be kept at the second time.
        checkIsFoundAgain(restored(from: machine))
        checkDates(in: machine)
        proceed(machine)
    }

    private static func checkTransition(_ transition: Announcement) {
        guard let app = transition.app, let record = transition.record else {
            return require(false, "only transitions are saved: \(transition)")
        }
        let again = Announcement(of: app, record)
        require(again == transition, "a transition that was saved is found again: \(transition)")
    }

    private static func engine(_ machine: SavedRecord, _ apps: [(AppID, SavedRecord)]) -> Engine {
        Engine(restoring: machine, apps: apps, settings: defaults, policy: policy, at: now)
    }

    private static func restored(from machine: Engine) -> Engine {
        engine(machine.savedRecord, records(of: machine).sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    private static func records(of machine: Engine) -> [AppID: SavedRecord] {
        var records: [AppID: SavedRecord] = [:]
        for app in machine.knownApps.values { records[app.id] = machine.savedRecord(of: app.index) }
        return records
    }

    private static let defaults = Settings()
    private static let now = Instant(microseconds: 1 << 40)

    private static func checkLine(_ line: StateLine) {
        require(StateLine(line.bytes.dropLast()) == line, "a line that was written is read again")
    }

    /// What holds for an app by now: its name says whether there is a manifest, and whether that has scenes.
    private static func policy(of id: AppID) -> Policy? {
        let kind = (id.name.utf8.last ?? 0) % 3
        guard kind > 0 else { return nil }
        var policy = Policy()
        policy.scenes = kind == 2
        policy.sceneLimit = 2
        return policy
    }

    /// Every instant has a date.
    private static func checkDates(in machine: Engine) {
        for app in machine.knownApps.values {
            var instants = [app.since] + app.scenes.all.map(\.since) + app.heldAssertions.map(\.since)
            if let exit = app.lastExit { instants.append(exit.instant) }
            for instant in instants {
                let (date, later) = (dates.date(of: instant), dates.date(of: instant + .seconds(1)))
                require(date <= later, "what is later has a later date: \(instant)")
            }
        }
    }

    private static let dates = ClockDifference()

    private static func checkScenes(of app: AppMachine) {
        let (all, foreground) = (app.scenes.all, app.scenes.foreground)
        require(all.count <= Scenes.limit, "an app has only so many scenes")
        require(Set(all.map(\.id)).count == all.count, "a scene's name is its own")
        require(Set(foreground).count == foreground.count, "a scene is in the foreground once")
        require(foreground.allSatisfy { app.scenes[$0] != nil }, "only known scenes are in the foreground")
        require(app.isRunning || all.allSatisfy { $0.state == .unattached }, "scenes are attached to a process")
    }

    private static func checkIsFoundAgain(_ machine: Engine) {
        let again = restored(from: machine)
        require(machine.savedRecord == again.savedRecord, "a machine that was saved is found again")
        let (first, second) = (records(of: machine), records(of: again))
        for (id, record) in first { require(second[id] == record, "an app that was saved is found again: \(id)") }
    }

    /// What follows, until nothing is due any more, or for as long as an app may have to be waited for.
    private static func proceed(_ machine: Engine) {
        var machine = machine
        var time = now
        for app in machine.knownApps.values.sorted(by: { $0.id < $1.id }) where app.isReconnecting {
            tell(.message(app.index, .reconnected(lastSequence: 0)), to: &machine, at: time)
        }
        tell(.resumeRestored, to: &machine, at: time)
        tell(.start, to: &machine, at: time)
        for _ in 0..<64 {
            guard let due = machine.nextDeadline else { break }
            time = max(time, due)
            tell(.tick, to: &machine, at: time)
        }
        for app in machine.knownApps.values { checkScenes(of: app) }
    }

    /// An input, and what it tells apps, as the channel would have it.
    private static func tell(_ input: Input, to machine: inout Engine, at time: Instant) {
        for case .deliver(let app, let delivery) in machine.handle(input, at: time).messages {
            let scene = delivery.scene.flatMap { machine.knownApps[known: app]?.scenes[$0.scene] }
            let message = CallbackMessage(delivery, now: time, previousTime: nil, scene: scene)
            guard let line = try? MessageToApp.callback(message).encoded() else { continue }
            require((try? MessageToApp(parsing: line.dropLast())) == .callback(message), "an app can read its callback")
        }
    }

    private static func checkLaunch(_ record: SavedRecord) {
        let launch = LaunchRecord(record, desiredState: .running)
        let again = launch.flatMap { LaunchRecord($0.saved, desiredState: .running) }
        require(launch?.tree == again?.tree, "a launch that was saved is found again")
    }

    private static func checkChannel(_ channel: ChannelProgress) {
        require(ChannelProgress(channel.saved) == channel, "a channel that was saved is found again")
    }

    private static func checkDefinition(_ definition: AppDefinition, _ id: AppID) {
        let again = AppDefinition(saved: definition.saved(id), defaults: Policy())
        require(again?.command == definition.command && again?.user == definition.user, "a command is found again")
        require(again?.environment == definition.environment, "an environment is found again")
    }
}
