import Testing
import Varlink

@testable import ControlAPI

/// The description is the contract; these tests keep the Swift types from drifting away from it.
@Suite struct InterfaceTests {
    private let text: InterfaceText

    init() throws {
        text = try InterfaceText(LifedInterface.description)
    }

    @Test func enumerationsAreTheSame() {
        #expect(text.enumerations["State"] == State.allCases.map(\.rawValue))
        #expect(text.enumerations["Containment"] == Containment.allCases.map(\.rawValue))
        #expect(text.enumerations["HoldKind"] == HoldKind.allCases.map(\.rawValue))
        #expect(text.enumerations["MemoryLevel"] == MemoryLevel.allCases.map(\.rawValue))
        #expect(text.enumerations["ErrandOutcome"] == ErrandOutcome.allCases.map(\.rawValue))
        #expect(text.enumerations["MachineEvent"] == MachineEvent.allCases.map(\.rawValue))
        #expect(text.enumerations["SceneState"] == SceneState.allCases.map(\.rawValue))
        #expect(text.enumerations["ObstacleKind"] == ObstacleKind.allCases.map(\.rawValue))
        #expect(text.enumerations["ProspectKind"] == ProspectKind.allCases.map(\.rawValue))
        #expect(text.enumerations["LaunchableSource"] == LaunchableSource.allCases.map(\.rawValue))
        #expect(text.enumerations["HistoryKind"] == HistoryKind.allCases.map(\.rawValue))
        #expect(text.enumerations["Use"] == Use.allCases.map(\.rawValue))
        #expect(text.enumerations["WaitGoal"] == WaitGoal.allCases.map(\.rawValue))
        #expect(text.enumerations.count == 13)
    }

    @Test func structuresAreTheSame() throws {
        try check(Samples.hold, "Hold")
        try check(Samples.reclaim, "Reclaim")
        try check(Samples.exit, "Exit")
        try check(Samples.scene, "Scene")
        try check(Samples.app, "App")
        try check(Samples.process, "Process")
        try check(Samples.schedule, "Schedule")
        try check(Samples.unheld, "UnheldProcess")
        try check(Samples.details, "Details")
        try check(Samples.transition, "Transition")
        try check(Samples.sceneTransition, "SceneTransition")
        try check(Samples.problem, "Problem")
        try check(Samples.status, "Status")
        try check(Samples.obstacle, "Obstacle")
        try check(Samples.prospect, "Prospect")
        try check(Samples.explanation, "Explanation")
        try check(Samples.historyEvent, "HistoryEvent")
        try check(Samples.launchable, "Launchable")
        try check(Helper(process: Samples.process, app: "x"), "Helper")
        #expect(text.structures.count == 19)
    }

    @Test func methodsAreTheSame() {
        #expect(Set(text.methods.keys) == Set(MethodName.allCases.map(\.rawValue)))
    }

    @Test func parametersAndRepliesAreTheSame() throws {
        let app = AppParameters(id: "x")
        let appReply = AppReply(app: Samples.app)
        try check(.launch, LaunchParameters(id: "x", background: true, wait: .answered), appReply)
        try check(.run, Samples.run, appReply)
        let outcomeReply = OutcomeReply(app: Samples.app, outcome: .newData)
        try check(.wake, WakeParameters(id: "a", kind: "fetch", payload: "p"), outcomeReply)
        try check(.setInUse, SetInUseParameters(use: .visible, apps: ["x"]), SetInUseReply(ignored: ["x"]))
        try check(.focus, FocusParameters(id: "x", wait: .active), appReply)
        try check(.home, NoParameters(), appReply)
        try check(.beginInterruption, InterruptionParameters(name: "x"), NoParameters())
        try check(.endInterruption, EndInterruptionParameters(name: "x", answer: "y"), NoParameters())
        let outcome = OutcomeReply(app: Samples.app, outcome: .handled)
        try check(.open, OpenParameters(url: "x:", id: "x", type: "text/plain"), outcome)
        try check(.continueActivity, ContinueActivityParameters(id: "x", type: "x", info: "{}"), outcome)
        try check(.simulate, SimulateParameters(event: .lock), NoParameters())
        try check(.suspend, SuspendParameters(id: "x", now: true), appReply)
        try check(.resume, app, appReply)
        try check(.terminate, app, appReply)
        try check(.kill, app, appReply)
        try check(
            .list, NoParameters(), ListReply(apps: [Samples.app], helpers: [Helper(process: Samples.process, app: "x")])
        )
        try check(.apps, AppsParameters(all: true), AppsReply(apps: [Samples.launchable]))
        try check(.describe, app, DescribeReply(details: Samples.details))
        try check(.findApp, FindAppParameters(pid: 42), FindAppReply(app: Samples.app))
        let adoption = AdoptParameters(pid: 42, id: "x", name: "X", background: true, byRule: true)
        try check(.adopt, adoption, appReply)
        try check(.disown, app, appReply)
        try check(.explain, app, ExplainReply(explanation: Samples.explanation))
        try check(
            .history, HistoryParameters(id: "x", limit: 3), HistoryReply(since: 1, events: [Samples.historyEvent]))
        try check(
            .simulateMemoryPressure, MemoryPressureParameters(level: .critical, all: true),
            MemoryPressureReply(reclaimed: ["x"]))
        let scene = SceneParameters(app: "x", scene: "main")
        let sceneReply = SceneReply(scene: Samples.scene)
        let opening = OpenSceneParameters(app: "x", scene: "main", role: "window", info: "{}", background: true)
        try check(.openScene, opening, sceneReply)
        try check(.focusScene, scene, sceneReply)
        try check(.backgroundScene, scene, sceneReply)
        try check(.closeScene, scene, sceneReply)
        try check(.reexecute, NoParameters(), NoParameters())
        try check(.reload, NoParameters(), ReloadReply(problems: [Samples.problem]))
        try check(.getStatus, NoParameters(), StatusReply(status: Samples.status))
        let monitor = try #require(text.methods["Monitor"])
        let reply = MonitorReply(
            number: 1, apps: [Samples.app], transition: Samples.transition, scene: Samples.sceneTransition)
        try check(reply, monitor.output, "Monitor")
    }

    /// The interface of systemd's services, as far as lifed has it, and what it answers with.
    @Test func metricsAreTheSame() throws {
        let text = try InterfaceText(MetricsInterface.description)
        #expect(Set(text.methods.keys) == Set(MetricsInterface.Method.allCases.map(\.rawValue)))
        #expect(text.enumerations["MetricFamilyType"] == MetricFamily.Kind.allCases.map(\.rawValue))
        let metric = Metric(name: "a", value: .number(1), object: "b", fields: ["c": "d"])
        #expect(try keys(of: metric) == text.methods["List"]?.output.map(\.name).sorted())
        let family = MetricFamily(name: "a", description: "b", type: .gauge)
        #expect(try keys(of: family) == text.methods["Describe"]?.output.map(\.name).sorted())
        for value in [MetricValue.number(-3), .word("active")] {
            #expect(try JSONValue(encoding: value).decoded(as: MetricValue.self) == value)
        }
    }

    private func keys(of value: some Encodable) throws -> [String] {
        try JSONValue(encoding: value).fields.keys.sorted()
    }

    @Test func errorsAreTheSame() throws {
        #expect(Set(text.errors.keys) == Set(ControlError.Kind.allCases.map(\.rawValue)))
        for (name, fields) in text.errors {
            let expected = name == "SubscriptionOverrun" ? ["reason", "remedy"] : ["id", "reason", "remedy"]
            #expect(fields.map(\.name) == expected)
        }
    }

    private func check<Parameters: NamedFields, Reply>(
        _ method: ControlMethod<Parameters, Reply>, _ parameters: Parameters, _ reply: Reply
    ) throws {
        let name = method.name.rawValue
        let signature = try #require(text.methods[name])
        #expect(Parameters.fieldNames == signature.input.map(\.name))
        try check(parameters, signature.input, name, isAnswer: false)
        // AppReply serves Home too, whose app may be missing, so it is more lenient than the other methods' replies.
        try check(reply, signature.output, name, nullable: Reply.self == AppReply.self)
    }

    private func check(_ sample: some Codable, _ structure: String) throws {
        try check(sample, try #require(text.structures[structure]), structure)
    }

    /// The sample has every field of the description and no other, each of its kind, and can do without the nullable: a call
    /// leaves them out, an answer has null.
    private func check<Value: Codable>(
        _ sample: Value, _ fields: [InterfaceText.Field], _ name: String, nullable: Bool = false, isAnswer: Bool = true
    ) throws {
        let json = try JSONValue(encoding: sample)
        #expect(Set(json.fields.keys) == Set(fields.map(\.name)), "\(name)")
        for field in fields {
            let value = try #require(json.fields[field.name])
            #expect(fits(value, field.kind), "\(name).\(field.name) is \(value)")
            var others = json.fields
            others[field.name] = nil
            let decoded = try? JSONValue.object(others).decoded(as: Value.self)
            #expect((decoded != nil) == (field.isNullable || nullable), "\(name).\(field.name)")
            if let decoded {
                let written = try JSONValue(encoding: decoded).fields[field.name]
                #expect(written == (isAnswer ? .null : nil), "\(name).\(field.name) is written as null")
            }
        }
    }

    private func fits(_ value: JSONValue, _ kind: InterfaceText.Kind) -> Bool {
        switch (kind, value) {
        case (.string, .string), (.int, .int), (.bool, .bool): true
        case (.array(let element), .array(let values)): values.allSatisfy { fits($0, element) }
        case (.map(let element), .object(let values)): values.values.allSatisfy { fits($0, element) }
        case (.named(let name), .string(let word)): text.enumerations[name]?.contains(word) ?? false
        case (.named(let name), .object(let values)):
            text.structures[name].map { Set($0.map(\.name)) == Set(values.keys) } ?? false
        default: false
        }
    }
}
