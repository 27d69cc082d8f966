import LifecycleCore
import Simulation
import TestSupport
import Testing

/// A file may say anything in a saved record. The machine restored from it does its work.
@Suite struct DamagedRecordTests {
    @Test func `a machine restored from records that make no sense works`() {
        for seed in UInt64(1)...SimulationTests.seeds {
            let problems = Nonsense(seed: seed).problems()
            #expect(problems.isEmpty, "seed \(seed): \(problems)")
            guard problems.isEmpty else { return }
        }
    }

    @Test(arguments: ["sequence", "last-event"])
    func numberWithoutASuccessorIsReplaced(name: String) {
        let clock = AppID("clock")
        var world = World(apps: "clock", linked: true)
        world.ask(.launch(clock, background: false))
        let records = world.core.records.map { record in
            SavedRecord(
                fields: record.fields.map { $0.name == name ? .init(name: name, value: "18446744073709551615") : $0 })
        }
        #expect(records.allSatisfy { $0[name] == "18446744073709551615" })
        world.core = Engine(
            restoring: world.core.record, apps: records, settings: Settings(), policy: { _ in Policy() }, at: world.now)
        world.told = [:]
        world.give(.reconnected(lastSequence: .max), from: clock)
        world.give(.resumeRestored)
        world.give(.start)
        let open = world.ask(.deliver(clock, .openURL("lifed:1")))
        #expect(world.told[clock]?.last?.callback == .openURL)
        #expect(world.replies[open]?.name == "declined")
    }
}

/// Records of a real history, with mistakes in them that one seed decides on.
private struct Nonsense {
    var random: SeededGenerator
    let settings: Settings
    let policies: [AppID: Policy]
    var machine: SavedRecord
    var apps: [SavedRecord]
    let now: Instant

    init(seed: UInt64) {
        let scenario = Scenario(seed: seed)
        var machine = Machine(scenario.setup, chance: Chance(seed: 1))
        random = SeededGenerator(seed: seed)
        for step in scenario.steps.prefix(Int.random(in: 1...60, using: &random)) { machine.handle(step) }
        settings = machine.settings
        policies = machine.policies
        self.machine = machine.core.record
        apps = machine.core.records
        now = machine.now
        for _ in 0..<Int.random(in: 1...12, using: &random) { makeMistake() }
    }

    private mutating func makeMistake() {
        let pool = (apps + [machine]).flatMap(\.fields)
        guard Int.random(in: 0..<5, using: &random) > 0, let index = apps.indices.randomElement(using: &random) else {
            machine = changed(machine, pool: pool)
            return
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0: apps.remove(at: index)
        case 1: apps.append(apps[index])
        default: apps[index] = changed(apps[index], pool: pool)
        }
    }

    private mutating func changed(_ record: SavedRecord, pool: [SavedRecord.Field]) -> SavedRecord {
        var fields = record.fields
        guard let index = fields.indices.randomElement(using: &random), let other = pool.randomElement(using: &random)
        else { return record }
        let words =
            ["", ":", "-1", "0", "1", "18446744073709551615", "\u{0}", "terminating", "active", other.value]
            + AppState.allCases.map(\.rawValue)
        let word = words.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<5, using: &random) {
        case 0: fields.remove(at: index)
        case 1: fields.append(other)
        case 2: fields[index] = .init(name: fields[index].name, value: String(fields[index].value.dropLast(2)))
        case 3: fields.insert(.init(name: fields[index].name, value: word), at: 0)
        default: fields[index] = .init(name: fields[index].name, value: word)
        }
        return SavedRecord(fields: fields)
    }

    /// The problems after the machine had all the time that it may need.
    func problems() -> [String] {
        var random = random
        var world = World()
        world.now = now
        world.linked = Set(policies.keys)
        world.core = Engine(
            restoring: machine, apps: apps, settings: settings, policy: { policies[$0] }, at: now)
        for app in world.core.knownApps.values.sorted(by: { $0.id < $1.id }) where app.isReconnecting {
            let sequence = UInt64.random(in: 0...UInt64.max, using: &random)
            if Bool.random(using: &random) { world.give(.reconnected(lastSequence: sequence), from: app.id) }
        }
        for (id, policy) in policies.sorted(by: { $0.key < $1.key }) { world.give(.define(id, policy)) }
        world.give(.resumeRestored)
        world.give(.start)
        var problems = broken(world.core)
        world.pass(.seconds(3600))
        problems += broken(world.core)
        // Records may say that two are active; one that is away has its second to make room.
        let active = world.core.knownApps.values.count { $0.state == .active }
        if active > settings.foregroundLimit { problems.append("\(active) active apps") }
        for app in world.core.knownApps.values where app.state != app.target && app.heldAssertions.isEmpty {
            problems.append("\(app.id) is \(app.state), not \(app.target): \(app)")
        }
        world.give(.shutDown)
        world.pass(.seconds(60))
        if world.core.runningCount != 0 { problems.append("\(world.core.runningCount) apps left after shutdown") }
        if !world.transcript.contains("finished") { problems.append("not finished") }
        return problems
    }

    private func broken(_ core: Engine) -> [String] {
        var problems: [String] = []
        if core.foreground.count > settings.foregroundLimit { problems.append("front \(core.foreground)") }
        if Set(core.foreground).count < core.foreground.count { problems.append("front \(core.foreground)") }
        if core.runningCount != core.knownApps.values.count(where: \.isRunning) {
            problems.append("\(core.runningCount) running")
        }
        return problems
    }
}
