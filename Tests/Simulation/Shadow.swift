import LifecycleCore
import OracleCore

/// The earlier core beside the new one: the same inputs, and every effect and record must be equal.
struct Shadow: Sendable {
    private var old = OracleCore.Lifecycle()

    mutating func restore(
        _ machine: LifecycleCore.SavedRecord, _ apps: [LifecycleCore.SavedRecord], _ settings: LifecycleCore.Settings,
        _ policy: (AppID) -> LifecycleCore.Policy?, _ now: Instant
    ) {
        old = OracleCore.Lifecycle(
            restoring: record(machine), apps: apps.map(record), settings: Self.settings(settings),
            policy: { policy($0).map(Self.policy) }, at: now)
    }

    private func record(_ record: LifecycleCore.SavedRecord) -> OracleCore.SavedRecord {
        OracleCore.SavedRecord(fields: record.fields.map { .init(name: $0.name, value: $0.value) })
    }

    /// Returns the first difference.
    mutating func handle(
        _ input: LifecycleCore.Input, _ now: Instant, _ effects: [LifecycleCore.Effect], _ changed: [AppID],
        _ new: LifecycleCore.Lifecycle
    ) -> String? {
        let oldEffects = old.handle(Self.input(input), at: now)
        let oldChanged = old.takeChangedApps()
        let left = oldEffects.map(Self.text)
        let right = effects.map(Self.text)
        if left != right {
            return "effects differ after \(input):\n  old: \(left.joined(separator: "\n       "))\n  new: \(right.joined(separator: "\n       "))"
        }
        if old.nextDeadline != new.nextDeadline {
            return "deadlines differ after \(input): \(String(describing: old.nextDeadline)) \(String(describing: new.nextDeadline))"
        }
        if old.runningCount != new.runningCount { return "running differs after \(input)" }
        if Self.fields(old.record.fields.map { ($0.name, $0.value) }) != Self.fields(new.record.fields.map { ($0.name, $0.value) }) {
            return "machine record differs after \(input): \(old.record) \(new.record)"
        }
        for id in Set(changed + oldChanged) {
            let a = old.record(of: id).map { Self.fields($0.fields.map { ($0.name, $0.value) }) }
            let b = new.record(of: id).map { Self.fields($0.fields.map { ($0.name, $0.value) }) }
            if a != b {
                let l = Set(a ?? []), r = Set(b ?? [])
                return "record of \(id) differs after \(input):\n  old: \(l.subtracting(r).sorted())\n  new: \(r.subtracting(l).sorted())"
            }
            if a != nil, !changed.contains(id), let c = new.record(of: id), c != before[id] { return "\(id) changed unseen by new after \(input)" }
            before[id] = new.record(of: id)
            let x = old.knownApps[id].map(Self.text)
            let y = new.knownApps[id].map(Self.text)
            if x != y { return "app \(id) differs after \(input):\n  old: \(x ?? "-")\n  new: \(y ?? "-")" }
            count &+= 1
            guard count % 16 == 0 else { continue }
            let o = old.obstacles(of: id).map { Self.clean(String(describing: $0)) }
            let n = new.obstacles(of: id).map { Self.clean(String(describing: $0)) }
            if o != n { return "obstacles of \(id) differ after \(input): \(o) \(n)" }
        }
        return nil
    }
    private var count = 0
    private var before: [AppID: LifecycleCore.SavedRecord] = [:]

    private static func fields(_ fields: [(String, String)]) -> [String] {
        fields.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map { "\($0.element.0)=\($0.element.1)" }
    }

    // MARK: Text

    static func clean(_ text: String) -> String {
        var text = text
        for (a, b) in [
            ("OracleCore.", ""), ("LifecycleCore.", ""), ("LifecycleTypes.", ""), ("Route.ProcessStep", "ProcessStep"),
            ("answerHold(", "answerAssertion("), ("HoldRefusal", "AssertionRefusal"), ("Hold(", "Assertion("), ("Hold.Kind", "Assertion.Kind"),
            ("lookAtMemory(", "checkMemory("), ("Reclaimed(", "ReclaimRecord("), ("Reclaimed.Cause", "ReclaimRecord.Cause"),
            ("givenUp(", "restartLimitReached("), ("tooManyErrands(", "tooManyEvents("), ("homeStaysInFront(", "homeStaysInForeground("),
            ("concealed(", "foregroundBlocked("), ("concealment(", "foregroundBlocked("),
        ] {
            text = replace(text, a, b)
        }
        if text.hasPrefix("held(") || text.hasPrefix("refused(held(") { text = replace(text, "held(", "assertionHeld(") }
        if text.hasPrefix("refused(Refusal.held(") { text = replace(text, "held(", "assertionHeld(") }
        if text.hasPrefix("hold(") { text = "assertion(" + text.dropFirst(5) }
        if text.hasPrefix("place(") { text = "activationSlot(" + text.dropFirst(6) }
        if text == "givenUp" { text = "restartLimitReached" }
        return text
    }

    private static func replace(_ text: String, _ a: String, _ b: String) -> String {
        guard !a.isEmpty else { return text }
        var result = ""
        var rest = text[...]
        while let range = rest.firstRange(of: a) {
            result += rest[..<range.lowerBound]
            result += b
            rest = rest[range.upperBound...]
        }
        return result + rest
    }

    static func text(_ effect: LifecycleCore.Effect) -> String {
        switch effect {
        case .deliver(let id, let d):
            return "deliver \(id.name) \(d.sequence) \(d.callback.rawValue) \(d.deadline.microseconds) \(d.state.rawValue) \(d.taskTime?.wholeMicroseconds ?? 0) \(d.launch.map { "\($0.reason.rawValue) \($0.previous?.text ?? "-") \($0.url ?? "-")" } ?? "-") \(d.event.map { clean("\($0)") } ?? "-") \(d.scene.map { "\($0.scene.name) \($0.reason ?? "-")" } ?? "-")"
        case .reply(let id, let reply):
            switch reply {
            case .done(let app): return "reply \(id.number) done \(app.map(text) ?? "-")"
            case .reclaimed(let ids): return "reply \(id.number) reclaimed \(ids)"
            case .scene(let scene, let app): return "reply \(id.number) scene \(text(scene)) \(text(app))"
            case .ended(let outcome, let app): return "reply \(id.number) ended \(outcome) \(app.map(text) ?? "-")"
            case .refused(let refusal): return "reply \(id.number) " + clean("refused(\(refusal))")
            }
        case .transition(let t): return "t \(t.app.name) \(t.from.rawValue) \(t.to.rawValue) \(t.reason.rawValue) \(t.instant.microseconds) \(t.since.microseconds) \(t.answerTime?.wholeMicroseconds ?? 0)"
        case .sceneTransition(let t): return "st \(t.app.name) \(t.scene.name) \(t.from.rawValue) \(t.to.rawValue) \(t.reason.rawValue) \(t.instant.microseconds) \(t.answerTime?.wholeMicroseconds ?? 0)"
        case .decision(.answered(let id, let c, let d)): return "answered \(id.name) \(c.rawValue) \(d.wholeMicroseconds)"
        case .spawn(let id): return "spawn \(id.name)"
        case .stop(let id): return "stop \(id.name)"
        case .resume(let id): return "resume \(id.name)"
        default: return clean(String(describing: effect))
        }
    }

    static func text(_ effect: OracleCore.Effect) -> String {
        switch effect {
        case .deliver(let id, let d):
            return "deliver \(id.name) \(d.sequence) \(d.callback.rawValue) \(d.deadline.microseconds) \(d.state.rawValue) \(d.taskTime?.wholeMicroseconds ?? 0) \(d.launch.map { "\($0.reason.rawValue) \($0.previous?.text ?? "-") \($0.url ?? "-")" } ?? "-") \(d.event.map { clean("\($0)") } ?? "-") \(d.scene.map { "\($0.scene.name) \($0.reason ?? "-")" } ?? "-")"
        case .reply(let id, let reply):
            switch reply {
            case .done(let app): return "reply \(id.number) done \(app.map(text) ?? "-")"
            case .reclaimed(let ids): return "reply \(id.number) reclaimed \(ids)"
            case .scene(let scene, let app): return "reply \(id.number) scene \(text(scene)) \(text(app))"
            case .ended(let outcome, let app): return "reply \(id.number) ended \(outcome) \(app.map(text) ?? "-")"
            case .refused(let refusal): return "reply \(id.number) " + clean("refused(\(refusal))")
            }
        case .transition(let t): return "t \(t.app.name) \(t.from.rawValue) \(t.to.rawValue) \(t.reason.rawValue) \(t.instant.microseconds) \(t.since.microseconds) \(t.answerTime?.wholeMicroseconds ?? 0)"
        case .sceneTransition(let t): return "st \(t.app.name) \(t.scene.name) \(t.from.rawValue) \(t.to.rawValue) \(t.reason.rawValue) \(t.instant.microseconds) \(t.answerTime?.wholeMicroseconds ?? 0)"
        case .decision(.answered(let id, let c, let d)): return "answered \(id.name) \(c.rawValue) \(d.wholeMicroseconds)"
        case .spawn(let id): return "spawn \(id.name)"
        case .stop(let id): return "stop \(id.name)"
        case .resume(let id): return "resume \(id.name)"
        default: return clean(String(describing: effect))
        }
    }

    static func text(_ scene: LifecycleCore.Scene) -> String {
        "\(scene.id.name) \(scene.role) \(scene.info ?? "-") \(scene.origin.rawValue) \(scene.state.rawValue) \(scene.reason.rawValue) \(scene.since.microseconds) \(scene.lastInForeground?.microseconds ?? 0) \(scene.wasConnected)"
    }

    static func text(_ scene: OracleCore.Scene) -> String {
        "\(scene.id.name) \(scene.role) \(scene.info ?? "-") \(scene.origin.rawValue) \(scene.state.rawValue) \(scene.reason.rawValue) \(scene.since.microseconds) \(scene.lastInFront?.microseconds ?? 0) \(scene.wasConnected)"
    }

    static func text(_ app: LifecycleCore.AppMachine) -> String {
        "\(app.id.name) \(app.state.rawValue) \(app.target.rawValue) \(app.reason.rawValue) \(app.since.microseconds) \(app.lastExit?.text ?? "-") \(app.reclaimed.map { clean("\($0)") } ?? "-") \(app.isConnected) \(app.isReconnecting) \(app.isStoppedByOther) \(app.lastInForeground?.microseconds ?? 0) \(app.restart.failures) \(app.restart.isLimitReached) \(app.heldAssertions.map { "\($0.kind.rawValue) \($0.number) \($0.name) \($0.since.microseconds)" }) \(app.use?.rawValue ?? "-") \(app.launched?.microseconds ?? 0) \(app.argumentURL ?? "-") \(app.awaitedCallback?.rawValue ?? "-") \(app.isRunning) \(app.isSpawning) \(app.isStoppedOrStopping) \(app.shouldRunNow) \(app.hasScenes) \(app.scenes.all.map(text)) \(app.scenes.foreground.map(\.name)) \(app.scenes.all.map { app.sceneTarget(of: $0).rawValue }) \(app.events.count)"
    }

    static func text(_ app: OracleCore.App) -> String {
        "\(app.id.name) \(app.state.rawValue) \(app.target.rawValue) \(app.reason.rawValue) \(app.since.microseconds) \(app.lastExit?.text ?? "-") \(app.reclaimed.map { clean("\($0)") } ?? "-") \(app.isLinked) \(app.isAway) \(app.isStoppedByOther) \(app.lastInFront?.microseconds ?? 0) \(app.failures) \(app.isGivenUp) \(app.holds.map { "\($0.kind.rawValue) \($0.number) \($0.name) \($0.since.microseconds)" }) \(app.use?.rawValue ?? "-") \(app.launched?.microseconds ?? 0) \(app.argumentURL ?? "-") \(app.awaitedCallback?.rawValue ?? "-") \(app.isRunning) \(app.isSpawning) \(app.isStoppedOrStopping) \(app.isToRunNow) \(app.hasScenes) \(app.scenes.all.map(text)) \(app.scenes.front.map(\.name)) \(app.scenes.all.map { app.sceneTarget(of: $0).rawValue }) \(app.events.count)"
    }

    // MARK: Inputs

    static func timeouts(_ t: LifecycleCore.Timeouts) -> OracleCore.Timeouts {
        var o = OracleCore.Timeouts()
        o.willResignActive = t.willResignActive
        o.didEnterBackground = t.didEnterBackground
        o.willTerminate = t.willTerminate
        o.callback = t.callback
        o.launch = t.launch
        o.background = t.background
        o.task = t.task
        o.taskExpiration = t.taskExpiration
        return o
    }

    static func settings(_ s: LifecycleCore.Settings) -> OracleCore.Settings {
        var o = OracleCore.Settings()
        o.timeouts = timeouts(s.timeouts)
        o.frontLimit = s.foregroundLimit
        o.homeApp = s.homeApp
        o.suspendedLimit = s.suspendedLimit
        o.keptUses.visible = s.keptUses.visible
        o.keptUses.playing =
            switch s.keptUses.playing {
            case .declared: .declared
            case .keep: .keep
            case .ignore: .ignore
            }
        return o
    }

    static func policy(_ p: LifecycleCore.Policy) -> OracleCore.Policy {
        var o = OracleCore.Policy(timeouts: timeouts(p.timeouts), isTransient: p.isTransient)
        o.suspend = .init(rawValue: p.suspend.rawValue)!
        o.callbacks = .init(rawValue: p.callbacks.rawValue)!
        o.backgroundModes = p.backgroundModes
        o.holdLimit = p.assertionLimit
        o.takesURLs = p.takesURLs
        o.scenes = p.scenes
        o.sceneLimit = p.sceneLimit
        o.restart = .init(rawValue: p.restart.rawValue)!
        o.onExit = .init(rawValue: p.onExit.rawValue)!
        o.launchAtStart = p.launchAtStart.map { .init(rawValue: $0.rawValue)! }
        o.isAdopted = p.isAdopted
        return o
    }

    static func failure(_ f: LifecycleCore.StartFailure) -> OracleCore.StartFailure {
        switch f {
        case .shortage(let w): .shortage(w)
        case .unrecorded(let w): .unrecorded(w)
        case .command(let w): .command(w)
        }
    }

    static func input(_ input: LifecycleCore.Input) -> OracleCore.Input {
        switch input {
        case .start: .start
        case .configure(let s): .configure(settings(s))
        case .define(let id, let p): .define(id, policy(p))
        case .forget(let id): .forget(id)
        case .remember(let id, let e): .remember(id, e)
        case .request(let id, let r): .request(OracleCore.RequestID(id.number), request(r))
        case .wake(let id, let kind): .wake(id, kind: kind)
        case .setUses(let use, let ids): .use(use, ids)
        case .shutDown: .shutDown
        case .outcome(let id, let o): .outcome(id, outcome(o))
        case .message(let id, let m): .message(id, message(m))
        case .resumeRestored: .takeOver
        case .memoryPressure(let l, let w): .memoryPressure(l, w)
        case .memoryChecked(let l, let w, let f): .memoryLookedAt(l, w, freed: f)
        case .tick: .tick
        }
    }

    static func outcome(_ o: LifecycleCore.Outcome) -> OracleCore.Outcome {
        switch o {
        case .spawned: .spawned
        case .spawnFailed(let f): .spawnFailed(failure(f))
        case .stopped: .stopped
        case .stopIncomplete(let w): .stopIncomplete(w)
        case .resumed: .resumed
        case .resumedByOther: .resumedByOther
        case .stoppedByOther: .stoppedByOther
        case .exited(let s, let left): .exited(s, othersLeft: left)
        case .gone: .gone
        }
    }

    static func message(_ m: LifecycleCore.AppMessage) -> OracleCore.AppMessage {
        switch m {
        case .hello: .hello
        case .done(let s, let a): .done(sequence: s, a)
        case .beginTask(let n, let name): .beginTask(n, name: name)
        case .beginActivity(let n, let mode): .beginActivity(n, mode: mode)
        case .endAssertion(let n): .endHold(n)
        case .timeLeft: .timeLeft
        case .openScene(let s, let r, let i): .openScene(s, role: r, info: i)
        case .closeScene(let s): .closeScene(s)
        case .sceneInfo(let s, let i): .sceneInfo(s, i)
        case .closed: .closed
        case .reconnected(let n): .back(lastSequence: n)
        }
    }

    static func request(_ r: LifecycleCore.Request) -> OracleCore.Request {
        switch r {
        case .launch(let id, let b): .launch(id, background: b)
        case .focus(let id): .focus(id)
        case .untilAnswered(let r): .untilAnswered(request(r))
        case .home: .home
        case .beginInterruption(let n): .beginInterruption(n)
        case .endInterruption(let n, let a): .endInterruption(n, answer: a)
        case .suspend(let id, let now): .suspend(id, now: now)
        case .resume(let id): .resume(id)
        case .deliver(let id, let e): .hand(id, e)
        case .machine(let e): .machine(e)
        case .wake(let id, let k, let p): .wake(id, kind: k, payload: p)
        case .openScene(let id, let o, let b):
            .openScene(id, OracleCore.SceneOpening(scene: o.scene, role: o.role, info: o.info), background: b)
        case .focusScene(let id, let s): .focusScene(id, s)
        case .backgroundScene(let id, let s): .backgroundScene(id, s)
        case .closeScene(let id, let s): .closeScene(id, s)
        case .terminate(let id): .terminate(id)
        case .kill(let id): .kill(id)
        case .release(let id): .disown(id)
        case .memoryPressure(let l, let all): .memoryPressure(l, all: all)
        }
    }
}
