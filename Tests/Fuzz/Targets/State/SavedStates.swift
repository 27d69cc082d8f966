import AppChannel
import Configuration
import LifecycleCore
import Processes

@testable import LifecycleDaemon

extension FuzzTarget {
    /// The lines of a state file: processes and definitions.
    static let state = FuzzTarget("state", takesList: true) { bytes in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        checkLines(lines)
        for (id, app) in SavedState(lines: lines).apps { readRest(of: id, app) }
    }

    /// A record of a slot, after the byte of its kind, and the same bytes as a file of slots.
    static let slots = FuzzTarget("slots") { bytes in
        let line = SavedState.slotsHeader(bootID: "boot", namespaces: "none")
        _ = SlotContents(SlotFormat.header(line, key: 0) + bytes, header: line)
        guard let kind = bytes.first.flatMap({ SlotKind(rawValue: $0) }) else { return }
        let record = bytes.dropFirst()
        switch kind {
        case .app: checkSlots(apps: [SlotReader(record)], machine: SlotReader([]))
        case .machine: checkSlots(apps: [], machine: SlotReader(record))
        case .transitions: for transition in Announcement.read(record) { checkTransition(transition) }
        case .channel: if let (app, channel) = ChannelProgress.read(record) { checkChannel(channel, of: app) }
        case .resources: _ = SavedResources(record)
        case .announced, .free: break
        }
    }

    private static func checkSlots(apps: [SlotReader], machine: SlotReader) {
        let machine = Engine(restoring: machine, apps: apps, settings: defaults, policy: policy, at: now)
        require(machine.foreground.count <= machine.settings.foregroundLimit, "the foreground has a limit")
        for app in machine.knownApps.values { checkScenes(of: app) }
        // What makes no sense is left out at first, and apps of which nothing is to be kept at the second time.
        checkIsFoundAgain(restored(from: machine))
        checkDates(in: machine)
        proceed(machine)
    }

    private static func checkTransition(_ transition: Announcement) {
        var slot = SlotWriter()
        transition.write(to: &slot)
        let again = Announcement.read(slot.bytes[...])
        require(again == [transition], "a transition that was saved is found again: \(transition) \(again)")
    }

    private static func restored(from machine: Engine) -> Engine {
        let (shared, apps) = slots(of: machine)
        return Engine(
            restoring: SlotReader(shared[...]), apps: apps.values.map { SlotReader($0[...]) }, settings: defaults,
            policy: policy, at: now)
    }

    private static func slots(of machine: Engine) -> (shared: [UInt8], apps: [AppID: [UInt8]]) {
        var (core, apps) = (machine, [AppID: [UInt8]]())
        for index in core.indexes {
            var slot = SlotWriter()
            if let id = core.writeRecord(at: index, to: &slot) { apps[id] = slot.bytes }
        }
        var slot = SlotWriter()
        core.writeRecord(to: &slot)
        return (slot.bytes, apps)
    }

    private static let defaults = Settings()
    private static let now = Instant(microseconds: 1 << 40)

    private static func checkLines(_ lines: [ArraySlice<UInt8>]) {
        for line in lines {
            guard let (kind, record) = StateLine.decode(line) else { continue }
            // Names are the daemon's own words; only values can be anything.
            guard record.fields.allSatisfy({ $0.name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x3D && $0 < 0x7F } }) else {
                continue
            }
            let again = StateLine.decode(StateLine.encode(kind, record).dropLast())
            require(again?.0 == kind && again?.1 == record, "a line that was written is read again")
        }
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
        let (first, second) = (slots(of: machine), slots(of: restored(from: machine)))
        require(first.shared == second.shared, "a machine that was saved is found again")
        for (id, slot) in first.apps { require(second.apps[id] == slot, "an app that was saved is found again: \(id)") }
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

    /// An input, and its effects as the channel would have them.
    private static func tell(_ input: Input, to machine: inout Engine, at time: Instant) {
        for case .deliver(let app, let delivery) in machine.handle(input, at: time) {
            let scene = delivery.scene.flatMap { machine.knownApps[known: app]?.scenes[$0.scene] }
            let message = CallbackMessage(delivery, now: time, previousTime: nil, scene: scene)
            guard let line = try? MessageToApp.callback(message).encoded() else { continue }
            require((try? MessageToApp(parsing: line.dropLast())) == .callback(message), "an app can read its callback")
        }
    }

    private static func readRest(of id: AppID, _ app: SavedState.App) {
        let launch = app.launch.flatMap { LaunchRecord($0, desiredState: .running) }
        let launchAgain = launch.flatMap { LaunchRecord($0.saved(id), desiredState: .running) }
        require(launch?.tree == launchAgain?.tree, "a launch that was saved is found again")
        if let definition = app.definition.flatMap({ AppDefinition(saved: $0, defaults: Policy()) }) {
            checkDefinition(definition, id)
        }
    }

    private static func checkChannel(_ channel: ChannelProgress, of app: AppID) {
        var slot = SlotWriter()
        channel.write(of: app, to: &slot)
        require(ChannelProgress.read(slot.bytes[...])?.1 == channel, "a channel that was saved is found again")
    }

    private static func checkDefinition(_ definition: AppDefinition, _ id: AppID) {
        let again = AppDefinition(saved: definition.saved(id), defaults: Policy())
        require(again?.command == definition.command && again?.user == definition.user, "a command is found again")
        require(again?.environment == definition.environment, "an environment is found again")
    }
}
