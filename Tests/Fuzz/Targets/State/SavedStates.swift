import AppChannel
import Configuration
import LifecycleCore
import Processes

@testable import LifecycleDaemon

extension FuzzTarget {
    /// The lines of a state file, as far as a daemon can go on from them without processes and descriptors.
    static let state = FuzzTarget("state") { bytes in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        checkLines(lines)
        let saved = SavedState(lines: lines)
        let machine = restore(saved)
        require(machine.front.count <= machine.settings.frontLimit, "there are only so many places in front")
        // What makes no sense is left out at first, and apps of which nothing is to be kept at the second time.
        checkIsFoundAgain(restored(from: machine))
        goOn(machine)
        for (id, app) in saved.apps { readRest(of: id, app) }
    }

    private static let defaults = LifecycleCore.Settings()
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

    private static func restore(_ saved: SavedState) -> Lifecycle {
        Lifecycle(
            restoring: saved.machine, apps: saved.apps.values.compactMap(\.core), settings: defaults,
            policy: { $0.name.utf8.count % 2 == 0 ? Policy() : nil }, at: now)
    }

    private static func restored(from machine: Lifecycle) -> Lifecycle {
        Lifecycle(
            restoring: machine.record, apps: machine.knownApps.keys.compactMap(machine.record(of:)), settings: defaults,
            policy: { $0.name.utf8.count % 2 == 0 ? Policy() : nil }, at: now)
    }

    private static func checkIsFoundAgain(_ machine: Lifecycle) {
        let again = restored(from: machine)
        require(machine.record == again.record, "a machine that was saved is found again: \(machine.record)")
        for id in machine.knownApps.keys {
            let (first, second) = (machine.record(of: id), again.record(of: id))
            require(first == second, "an app that was saved is found again: \(first as Any) \(second as Any)")
        }
    }

    /// What follows, until nothing is due any more, or for as long as an app may have to be waited for.
    private static func goOn(_ machine: Lifecycle) {
        var machine = machine
        var time = now
        for app in machine.knownApps.values.sorted(by: { $0.id < $1.id }) where app.isAway {
            tell(machine.handle(.message(app.id, .back(lastSequence: 0)), at: time), at: time)
        }
        tell(machine.handle(.takeOver, at: time), at: time)
        tell(machine.handle(.start, at: time), at: time)
        for _ in 0..<64 {
            guard let due = machine.nextDeadline else { return }
            time = max(time, due)
            tell(machine.handle(.tick, at: time), at: time)
        }
    }

    /// The effects as the channel would have them.
    private static func tell(_ effects: [Effect], at time: Instant) {
        for case .deliver(_, let delivery) in effects {
            let message = CallbackMessage(delivery, now: time, previousTime: nil, scene: nil)
            guard let line = try? MessageToApp.callback(message).encoded() else { continue }
            require((try? MessageToApp(parsing: line.dropLast())) == .callback(message), "an app can read its callback")
        }
    }

    private static func readRest(of id: AppID, _ app: SavedState.App) {
        let launch = app.launch.flatMap { LaunchRecord($0, wish: .running) }
        let launchAgain = launch.flatMap { LaunchRecord($0.saved(id), wish: .running) }
        require(launch?.tree == launchAgain?.tree, "a launch that was saved is found again")
        if let channel = app.channel.map({ ChannelState($0) }) {
            require(ChannelState(channel.saved(id)) == channel, "a channel that was saved is found again")
        }
        if let definition = app.definition.flatMap({ AppDefinition(saved: $0, defaults: Policy()) }) {
            checkDefinition(definition, id)
        }
        _ = app.resources?["resources"].flatMap { ResourceRecord(text: $0) }
    }

    private static func checkDefinition(_ definition: AppDefinition, _ id: AppID) {
        let again = AppDefinition(saved: definition.saved(id), defaults: Policy())
        require(again?.command == definition.command && again?.user == definition.user, "a command is found again")
        require(again?.environment == definition.environment, "an environment is found again")
    }
}
