import LifecycleCore
import TestSupport

extension Scenario {
    static let sceneNames = ["main", "scene-2", "left", "right"].compactMap { SceneID($0) }

    /// The history of a seed.
    package init(seed: UInt64, steps count: Int = 120) {
        var chance = Chance(seed: seed &* 0x2545_F491_4F6C_DD1D)
        setup = Setup(random: &chance)
        steps = []
        steps.reserveCapacity(count)
        for number in 0..<count {
            let isLong = chance.number(below: 20) == 0
            let pause = chance.time(upTo: isLong ? 12_000 : chance.happens(40) ? 2 : 60)
            steps.append(Step(pause: pause, action: setup.randomAction(number, &chance), seed: chance.seed()))
        }
        addStrangers(seed: seed)
    }

    /// In one history of four there are programs that another program has started. The others are what they would be if
    /// there never were any, and so is the rest of this one.
    private mutating func addStrangers(seed: UInt64) {
        var chance = Chance(seed: seed &* 0x9E37_79B9_7F4A_7C15)
        guard chance.happens(25) else { return }
        for index in steps.indices where chance.happens(15) {
            let id = chance.pick(Machine.strangers + setup.apps.map(\.id).prefix(2))
            steps[index].action = Self.randomActionWithStranger(id, &chance)
        }
    }

    private static func randomActionWithStranger(_ id: AppID, _ chance: inout Chance) -> Action {
        switch chance.number(below: 20) {
        case 0..<8: .adopt(id, background: chance.happens(40))
        case 8..<12: .ask(.release(id))
        case 12..<14: .ask(.focus(id))
        case 14: .ask(.suspend(id))
        case 15: .ask(.resume(id))
        case 16: .ask(chance.happens(50) ? .terminate(id) : .kill(id))
        case 17: .use(.visible, [id])
        case 18: .foreignStop(id)
        default: .exit(id, chance.pick([.code(0), .signal(11)]), othersLeft: chance.happens(40))
        }
    }
}

extension Setup {
    fileprivate init(random chance: inout Chance) {
        self.init()
        hasFaults = chance.happens(75)
        deaths = chance.pick([.none, .none, .channelsKept, .channelsLost])
        for name in ["a", "b", "c", "d", "e"].prefix(2 + chance.number(below: 4)) {
            apps.append(AppSetup(id: AppID(name), policy: Self.randomPolicy(&chance), manner: randomManner(&chance)))
        }
        settings = randomSettings(&chance)
    }

    private func randomManner(_ chance: inout Chance) -> Manner {
        guard hasFaults else { return chance.pick([.good, .good, .good, .deaf]) }
        return chance.pick([.good, .good, .slow, .wrong, .silent, .late, .deaf])
    }

    fileprivate func randomSettings(_ chance: inout Chance) -> Settings {
        var settings = Settings()
        settings.foregroundLimit = chance.pick([1, 1, 1, 2, 3])
        if chance.happens(50) { settings.homeApp = apps[0].id }
        if chance.happens(20) { settings.suspendedLimit = 1 + chance.number(below: 2) }
        settings.keptUses.visible = chance.happens(85)
        settings.keptUses.playing = chance.pick([.declared, .declared, .keep, .ignore])
        return settings
    }

    fileprivate static func randomPolicy(_ chance: inout Chance) -> Policy {
        var policy = Policy()
        if chance.happens(12) { policy.suspend = .never }
        policy.callbacks = chance.pick([.auto, .auto, .auto, .auto, .required, .none])
        if chance.happens(50) { policy.backgroundModes = ["audio"] }
        if chance.happens(25) { policy.takesURLs = true }
        if chance.happens(20) { policy.assertionLimit = 2 }
        policy.restart = chance.pick([.never, .never, .onFailure, .always])
        policy.onExit = chance.pick([.home, .previous])
        policy.launchAtStart = chance.pick([nil, nil, .foreground, .background])
        policy.isTransient = chance.happens(8)
        policy.scenes = chance.happens(40)
        policy.sceneLimit = chance.pick([1, 1, 2, 3])
        return policy
    }

    fileprivate func randomAction(_ number: Int, _ chance: inout Chance) -> Action {
        let id = chance.pick(apps).id
        switch chance.number(below: 144) {
        case 0..<5: return .ask(.deliver(id, .openURL("u:\(number)", type: chance.happens(50) ? "text/html" : nil)))
        case 5..<7: return .ask(.deliver(id, .continueActivity(type: "t:\(number)", info: "{}")))
        case 7..<9: return .ask(.deliver(id, .performTask(kind: "fetch", payload: "p:\(number)")))
        case 9..<11: return .ask(.wake(id, kind: "fetch", payload: "p:\(number)"))
        case 11..<15: return .ask(.machine(chance.pick(MachineEvent.allCases)))
        case 15..<17: return .pressure(chance.pick(MemoryLevel.allCases))
        case 17..<19: return .ask(.memoryPressure(chance.pick(MemoryLevel.allCases), all: chance.happens(30)))
        case 19..<27: return .ask(.launch(id, background: chance.happens(30)))
        case 27..<49: return .ask(.focus(id, untilAnswered: chance.happens(20)))
        case 49..<52: return .ask(.home)
        case 52..<55: return .ask(.background(id))
        case 55..<59: return .ask(.beginInterruption(chance.pick(["call", "alert"])))
        case 59..<65:
            return .ask(.endInterruption(chance.pick(["call", "alert"]), answer: chance.happens(30) ? id : nil))
        case 65..<71: return .ask(.suspend(id, now: chance.happens(30)))
        case 71..<76: return .ask(.resume(id))
        case 76..<79: return .ask(.terminate(id))
        case 79: return .ask(.restart(id))
        case 80..<82: return .ask(.kill(id))
        case 82..<86: return .beginTask(id, UInt64(chance.number(below: 4)))
        case 86..<88: return .beginActivity(id, UInt64(chance.number(below: 4)))
        case 88..<92: return .endAssertion(id)
        case 92..<102: return hasFaults ? randomFault(of: id, &chance) : .ask(.focus(id))
        case 102..<105: return randomReload(of: id, &chance)
        case 105..<111:
            guard deaths != .none else { return .ask(.launch(id, background: false)) }
            return .killDaemon(afterPercent: chance.number(below: 101), downtime: chance.time(upTo: 400))
        case 111: return chance.happens(8) ? .shutDown : .ask(.unlock)
        case 112..<120:
            return .use(
                chance.pick([.visible, .visible, .pointed, .playing, .called, .awaited, .unread, .unfollowed]),
                apps.map(\.id).filter { _ in chance.happens(35) })
        default: return randomSceneAction(number, &chance)
        }
    }

    /// About scenes, most often of an app that has any.
    private func randomSceneAction(_ number: Int, _ chance: inout Chance) -> Action {
        let having = apps.filter(\.policy.scenes)
        let id = chance.pick(having.isEmpty || chance.happens(10) ? apps : having).id
        let scene = chance.pick(Scenario.sceneNames)
        let info = chance.happens(50) ? "i:\(number)" : nil
        switch chance.number(below: 24) {
        case 0..<7:
            let opening = SceneOpening(scene: chance.happens(60) ? scene : nil, info: info)
            return .ask(.openScene(id, opening, background: chance.happens(40)))
        case 7..<12: return .ask(.focusScene(id, scene))
        case 12..<15: return .ask(.backgroundScene(id, scene))
        case 15..<18: return .ask(.closeScene(id, scene))
        case 18..<20: return .say(id, .openScene(chance.happens(60) ? scene : nil, role: nil, info: info))
        case 20..<22: return .say(id, .closeScene(scene))
        default: return .say(id, .sceneInfo(scene, info))
        }
    }

    private func randomFault(of id: AppID, _ chance: inout Chance) -> Action {
        switch chance.number(below: 11) {
        case 0..<3: .foreignContinue(id)
        case 3..<5: .foreignStop(id)
        case 5..<7: .close(id)
        case 7: .killKeeper(id)
        default: .exit(id, chance.pick([.code(0), .code(1), .signal(11), .signal(9)]), othersLeft: chance.happens(40))
        }
    }

    private func randomReload(of id: AppID, _ chance: inout Chance) -> Action {
        switch chance.number(below: 3) {
        case 0: .configure(randomSettings(&chance))
        case 1: .define(id, Self.randomPolicy(&chance))
        default: .forget(id)
        }
    }
}

extension Request {
    fileprivate static var unlock: Request { .machine(.unlock) }
}
