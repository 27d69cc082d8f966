import ControlAPI
import LifecycleTypes
import Testing
import Varlink

@testable import lifectl

private let plain = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: 66_000_000)

private func app(_ id: String, _ state: AppState, since: Int64 = 60_000_000) -> APIApp {
    APIApp(
        id: id, name: nil, state: state, target: state, reason: .displaced, foreground: false, connected: false,
        adHoc: false, pid: 123, sinceUSec: since, stoppedByOther: false)
}

private func details(_ app: APIApp) -> APIDetails {
    APIDetails(
        app: app, command: ["x"], adopted: false, processes: [], assertions: [], failures: 0,
        restartLimitReached: false, uncontrolledProcesses: [], ended: false)
}

@Suite struct ExplanationTests {
    @Test func everythingThatPeopleAskIsAnswered() {
        var moving = app("clock", .background)
        moving.target = .suspended
        let explanation = APIExplanation(
            details: details(moving), next: .suspended,
            conditions: [APIStateCondition(kind: .backgroundTime, names: [], untilUSec: 67_800_000)],
            prospects: [
                APIProspect(
                    kind: .transition, timeUSec: 67_800_000, from: .background, to: .suspended, reason: .idle)
            ])
        let past = [HistoryEntry(step(60_000, "clock", .inactive, .background, .displaced))]
        let lines = plain.explanation(explanation, past: past).split(separator: "\n").map(String.init)
        #expect(lines[0] == "clock runs in the background (background)")
        #expect(lines[1].hasSuffix("(6.0 s ago): another app came to the foreground"))
        #expect(lines[2] == "  next state suspended")
        #expect(lines[4].hasPrefix("  it has background time to finish its work, until "))
        #expect(lines[4].hasSuffix("(in 1.8 s)"))
        #expect(lines[6].contains("background → suspended: it is in the background, and nothing keeps it running"))
        #expect(lines[8].hasSuffix("inactive → background (displaced)"))
    }

    @Test func endIsExplainedByItsStatus() {
        func explained(exitCode: Int64?, signal: Int64?) -> String {
            var ended = app("a", .notRunning)
            ended.reason = .crash
            ended.lastExit = APIExit(
                state: .active, reason: .crash, exitCode: exitCode, signal: signal, timeUSec: 60_000_000,
                restoreFailed: false)
            return plain.explanation(
                APIExplanation(details: details(ended), next: nil, conditions: [], prospects: []), past: [])
        }
        #expect(explained(exitCode: 3, signal: nil).contains(": it exited with status 3\n"))
        #expect(explained(exitCode: nil, signal: 11).contains(": it was ended by SIGSEGV, which lifed did not send\n"))
        #expect(explained(exitCode: nil, signal: nil).contains(": \(Reason.crash.meaning)\n"))
    }

    @Test(arguments: APIStateConditionKind.allCases)
    func everyStateConditionIsASentence(_ kind: APIStateConditionKind) {
        for names in [[], ["did-enter-background", "main"]] {
            let text = plain.condition(APIStateCondition(kind: kind, names: names, sinceUSec: 1, untilUSec: 67_000_000))
            #expect(text.count > 12 && text.hasSuffix("(in 1.0 s)") && !text.contains("\n"))
        }
    }

    @Test func waitNamesItsStateCondition() {
        let explanation = APIExplanation(
            details: details(app("a", .terminating)), next: .notRunning,
            conditions: [APIStateCondition(kind: .end, names: [])],
            prospects: [])
        #expect(
            WaitingLine.text("a", seconds: 3, explanation: explanation)
                == "a (3 s): it was asked to end, and processes of it are left")
        #expect(WaitingLine.text("a", seconds: 3, explanation: nil) == "a (3 s): no answer yet")
    }

    @Test func appAtRestHasNoConditions() {
        for state in AppState.allCases {
            let explanation = APIExplanation(
                details: details(app("a", state)), next: nil, conditions: [], prospects: [])
            #expect(plain.explanation(explanation, past: []).contains("\n  none"))
        }
    }
}

@Suite struct TimelineTests {
    /// A in the foreground, then B; A is suspended and killed later.
    static let events = [
        step(0, "a", .notRunning, .inactive, .launch), step(0, "a", .inactive, .active, .launch),
        step(10_000, "a", .active, .inactive, .displaced, callback: 4000),
        step(10_000, "a", .inactive, .background, .displaced),
        step(10_000, "b", .notRunning, .inactive, .launch), step(10_020, "b", .inactive, .active, .launch),
        step(15_000, "a", .background, .suspended, .idle),
        step(20_000, "a", .suspended, .terminating, .reclaimed),
        step(20_000, "a", .terminating, .notRunning, .reclaimed),
    ]
    let lanes = Lanes(events, start: nil, end: 40_000_000)

    @Test func anAppIsALaneAndAStateASpan() {
        #expect(lanes.lanes.map(\.app) == ["a", "b"])
        #expect(lanes.lanes[0].spans.map(\.state) == [.active, .background, .suspended])
        #expect(lanes.lanes[0].spans.map(\.endUSec) == [10_000_000, 15_000_000, 20_000_000])
        #expect(lanes.lanes[0].marks.map(\.kind) == [.answered, .killed])
        #expect(
            lanes.lanes[1].spans.last
                == StateSpan(state: .active, startUSec: 10_020_000, endUSec: 40_000_000, reason: .launch))
    }

    @Test func stateBeforeTheFirstEventFollowsFromIt() {
        let late = Lanes(Array(Self.events.suffix(3)), start: 12_000_000, end: 40_000_000, apps: [app("c", .suspended)])
        #expect(late.lanes.first { $0.app == "a" }?.spans.first?.state == .background)
        #expect(late.lanes.first { $0.app == "a" }?.spans.first?.startUSec == 12_000_000)
        #expect(
            late.lanes.first { $0.app == "c" }?.spans.isEmpty == true || late.lanes.contains { $0.app == "c" } == false)
        let silent = Lanes([], start: 0, end: 70_000_000, apps: [app("c", .suspended)])
        #expect(
            silent.lanes.first?.spans == [
                StateSpan(state: .suspended, startUSec: 60_000_000, endUSec: 70_000_000, reason: .displaced)
            ])
    }

    @Test func stateBeforeTheFirstEventBeginsWhenTheAppEnteredIt() {
        var first = step(60_000, "a", .active, .inactive, .displaced)
        first.stateUSec = 2_000_000
        let lanes = Lanes([first], start: 0, end: 61_000_000)
        #expect(lanes.lanes.first?.spans.first?.startUSec == 58_000_000)
        first.stateUSec = 90_000_000
        #expect(Lanes([first], start: 0, end: 61_000_000).lanes.first?.spans.first?.startUSec == 0)
    }

    @Test func appThatExitedWithAnErrorIsMarkedWithItsStatus() {
        let exit = APIHistoryEvent(kind: .exited, id: "a", timeUSec: 20_000_000, reason: .crash, exitCode: 3)
        let events = [exit, step(20_000, "a", .active, .notRunning, .crash)]
        #expect(Lanes(events, start: 0, end: 30_000_000).lanes[0].marks.map(\.note) == ["it exited with status 3"])
    }

    @Test func theTerminalGetsACharacterAPieceOfTime() {
        let lines = plain.timeline(lanes, width: 43).split(separator: "\n").map(String.init)
        #expect(lines[1] == "a  " + String(repeating: "█", count: 10) + "▒▒▒▒▒░░░░░")
        #expect(lines[2] == "             ·         x")
        #expect(lines[3] == "b  " + String(repeating: " ", count: 10) + String(repeating: "█", count: 30))
        #expect(plain.timeline(Lanes([], start: 0, end: 1), width: 80) == "no events\n")
    }

    @Test func pictureIsWellFormedForAnyAppID() {
        var events = Self.events
        for index in events.indices where events[index].id == "a" { events[index].id = "<a&\"b\">" }
        let text = TimelineDrawing(lanes: Lanes(events, start: nil, end: 40_000_000)).text
        #expect(text.hasPrefix("<svg ") && text.hasSuffix("</svg>\n"))
        #expect(text.contains("&lt;a&amp;&quot;b&quot;&gt;") && !text.contains("<a&"))
        for element in ["rect", "text", "title", "svg", "g"] {
            let opened = text.matches(of: "<\(element)[ >]", closed: "/>")
            #expect(opened == text.components(of: "</\(element)>"), "\(element)")
        }
    }

    @Test func anIdThatIsTooLongForThePictureIsCutShortAndSaidInFull() {
        var events = Self.events
        let id = String(repeating: "long.", count: 20)
        for index in events.indices where events[index].id == "a" { events[index].id = id }
        let text = TimelineDrawing(lanes: Lanes(events, start: nil, end: 40_000_000)).text
        #expect(text.contains(">\(id.prefix(35))…<title>\(id)</title></text>"))
    }

    @Test func everyMarkHasAFormOfItsOwn() {
        var events = Self.events
        events.append(
            APIHistoryEvent(kind: .callbackTimeout, id: "b", timeUSec: 30_000_000, callback: "will-resign-active"))
        let lanes = Lanes(events, start: nil, end: 40_000_000)
        let text = TimelineDrawing(lanes: lanes).text
        for (kind, form) in [(MarkKind.answered, "<circle "), (.unanswered, "z\" fill="), (.killed, "m0 -10")] {
            // Each is in the legend besides.
            #expect(text.components(of: form) == lanes.lanes.flatMap(\.marks).count { $0.kind == kind } + 1)
        }
    }
}

extension String {
    func components(of part: String) -> Int { split(separator: part, omittingEmptySubsequences: false).count - 1 }

    /// The number of elements that begin with this name and are not empty.
    fileprivate func matches(of pattern: String, closed: String) -> Int {
        let name = pattern.prefix { $0 != "[" }
        return split(separator: "<", omittingEmptySubsequences: true).count { part in
            let element = "<" + part
            guard element.hasPrefix(name), let next = element.dropFirst(name.count).first, next == " " || next == ">"
            else { return false }
            return !(element.prefix { $0 != ">" }.hasSuffix("/"))
        }
    }
}

@Suite struct StatisticsTests {
    @Test func timesAndEndsAreCounted() {
        let statistics = Statistics(TimelineTests.events, start: nil, end: 40_000_000)
        #expect(statistics.apps.map(\.app) == ["a", "b"])
        #expect(statistics.apps[0].times == ["active": 10_000_000, "background": 5_000_000, "suspended": 5_000_000])
        #expect(statistics.apps[0].launches == 1 && statistics.apps[0].activations == 1 && statistics.apps[0].ends == 1)
        #expect(statistics.ends == ["reclaimed": 1])
        #expect(plain.statistics(statistics).contains("1 reclaimed"))
    }

    @Test func aSwitchIsCountedFromItsFirstSign() {
        var steps = [
            // The one before took 4 ms to answer; this one was continued meanwhile.
            step(102, "b", .suspended, .background, .focus),
            step(104, "a", .active, .inactive, .displaced, callback: 4000),
            step(106, "b", .background, .inactive, .focus, callback: 3000),
            step(107, "b", .inactive, .active, .focus),
        ]
        #expect(Switches(steps).latencies == [Switches.Latency(app: "b", time: 7000, isLaunch: false)])
        steps = [step(5, "c", .notRunning, .inactive, .launch), step(25, "c", .inactive, .active, .launch)]
        #expect(Switches(steps).latencies == [Switches.Latency(app: "c", time: 20_000, isLaunch: true)])
        // A short time in the background is no switch.
        steps = [step(1, "d", .suspended, .background, .wake), step(9, "d", .background, .suspended, .idle)]
        #expect(Switches(steps).latencies.isEmpty)
        // An interruption that ends is none either.
        steps = [step(1, "d", .active, .inactive, .interruption), step(9, "d", .inactive, .active)]
        #expect(Switches(steps).latencies.isEmpty)
    }

    @Test func percentilesAreValuesThatWere() {
        let spread = Spread((1...200).map { Int64($0) }.shuffled())
        #expect(
            spread
                == Spread(count: 200, medianUSec: 100, percentile90USec: 180, percentile99USec: 198, longestUSec: 200))
        #expect(
            Spread([7])
                == Spread(count: 1, medianUSec: 7, percentile90USec: 7, percentile99USec: 7, longestUSec: 7))
        #expect(Spread([]) == nil)
    }

    @Test func openMetricsHaveTheirForm() {
        let text = OpenMetrics(
            families: [
                MetricsDescribeReply(name: "org.lifed.ends_total", description: "Ends", type: .counter),
                MetricsDescribeReply(name: "org.lifed.app_state", description: "State", type: .string),
            ],
            metrics: [
                MetricsListReply(
                    name: "org.lifed.ends_total", value: .integer(3),
                    fields: ["reason": .string("a\"b\\")]),
                MetricsListReply(name: "org.lifed.app_state", value: .string("active"), object: "clock"),
            ]
        ).text
        #expect(
            text.hasPrefix(
                "# TYPE lifed_ends counter\n# HELP lifed_ends Ends.\nlifed_ends_total{reason=\"a\\\"b\\\\\"} 3\n"))
        #expect(text.contains("# TYPE lifed_app_state stateset\n"))
        #expect(text.contains("lifed_app_state{app=\"clock\",lifed_app_state=\"active\"} 1\n"))
        #expect(text.contains("lifed_app_state{app=\"clock\",lifed_app_state=\"suspended\"} 0\n"))
        #expect(text.hasSuffix("# EOF\n"))
    }
}

@Suite struct DoctorTests {
    static let status = APIStatus(
        version: "1", pid: 1, instance: "system", socket: "/s", startedUSec: 0, foreground: [], interruptions: [],
        foregroundBlockers: [], apps: 0, running: 0, clients: 1, journal: true, problems: [])

    private static var withProcessGroups: APIStatus {
        var status = status
        status.containment = .keeper
        return status
    }

    private static var withFullDirectory: APIStatus {
        var status = status
        status.launchBlocker = "/run/lifed is full"
        return status
    }

    private let healthy = Surroundings(
        connection: .answers(status), isUser: false, kernelRelease: "6.18.0-x", group: "/lifed.service/daemon",
        controllers: ["cpu", "io", "memory", "pids"], enabledControllers: ["cpu", "io", "memory"],
        hasUnifiedHierarchy: true, hasMemoryPressure: true, hasSwap: true, hasJournal: true, journalComplaint: nil,
        hasSystemBus: true,
        units: [
            Surroundings.Unit(name: "lifed.service", load: "loaded", active: "active", file: "enabled"),
            Surroundings.Unit(name: "lifed-rescue.service", load: "loaded", active: "inactive", file: "static"),
        ])

    private func worst(_ subject: String, _ edit: (inout Surroundings) -> Void) -> Verdict? {
        var facts = healthy
        edit(&facts)
        let findings = Examination(facts).findings.filter { $0.subject == subject }
        return findings.first { $0.verdict == .failed }?.verdict ?? findings.first { $0.verdict == .degraded }?.verdict
            ?? findings.first?.verdict
    }

    @Test func whereAllIsThereNothingIsSaid() {
        let examination = Examination(healthy)
        #expect(examination.findings.allSatisfy { $0.verdict == .ok && $0.cost == nil })
        #expect(plain.examination(examination).hasSuffix("\n13 checks: 13 ok, 0 degraded, 0 failed\n"))
    }

    @Test func missingFeatureHasItsVerdict() {
        #expect(worst("daemon") { $0.connection = .absent("no") } == .failed)
        #expect(worst("daemon") { $0.connection = .notPermitted("no") } == .failed)
        #expect(worst("launches") { $0.connection = .answers(Self.withFullDirectory) } == .failed)
        #expect(worst("control groups") { $0.controllers = nil } == .degraded)
        #expect(worst("control groups") { $0.hasUnifiedHierarchy = false } == .degraded)
        #expect(worst("control groups") { $0.connection = .answers(Self.withProcessGroups) } == .degraded)
        #expect(worst("controllers") { $0.controllers = ["cpu"] } == .degraded)
        #expect(worst("controllers") { $0.enabledControllers = [] } == .degraded)
        #expect(worst("memory pressure") { $0.hasMemoryPressure = false } == .degraded)
        #expect(worst("swap") { $0.hasSwap = false } == .degraded)
        #expect(worst("journal") { $0.hasJournal = false } == .degraded)
        #expect(worst("journal access") { $0.journalComplaint = .init(status: .failed, reason: "no") } == .degraded)
        #expect(worst("session and sleep") { $0.hasSystemBus = false } == .degraded)
        #expect(worst("kernel") { $0.kernelRelease = "5.2.9" } == .failed)
        #expect(worst("kernel") { $0.kernelRelease = "6.1.0-17" } == .degraded)
        #expect(worst("units") { $0.units = nil } == .degraded)
        #expect(worst("lifed.service") { $0.units?[0].active = "failed" } == .failed)
        #expect(worst("lifed.service") { $0.units?[0].load = "not-found" } == .degraded)
        #expect(worst("lifed.service") { $0.units?[0].active = "inactive" } == .degraded)
    }

    @Test func degradedFeatureNamesItsCost() {
        var facts = healthy
        (facts.hasSwap, facts.hasMemoryPressure, facts.controllers, facts.units) = (false, false, nil, nil)
        facts.kernelRelease = "5.10"
        facts.connection = .absent("no")
        let examination = Examination(facts)
        for finding in examination.findings where finding.verdict != .ok {
            #expect(finding.cost != nil && finding.remedy != nil, "\(finding.subject)")
        }
        #expect(examination.ok + examination.degraded + examination.failed == Int64(examination.findings.count))
        #expect(plain.examination(examination).hasSuffix(" degraded, 1 failed\n"))
    }

    private func remedies(_ edit: (inout Surroundings) -> Void) -> String {
        var facts = healthy
        edit(&facts)
        return Examination(facts).findings.compactMap { $0.remedy }.joined(separator: "\n")
    }

    @Test(arguments: [false, true])
    func remediesAreCommandsForTheUnitsOfTheDaemon(isUser: Bool) {
        let texts = [
            remedies { ($0.isUser, $0.connection) = (isUser, .absent("no")) },
            remedies { ($0.isUser, $0.connection) = (isUser, .failed("no")) },
            remedies {
                ($0.isUser, $0.units) = (isUser, $0.units.map { [unit($0[0], "failed"), unit($0[0], "inactive")] })
            },
        ]
        let commands = texts.joined(separator: "\n").split(separator: "'").filter { $0.hasPrefix("systemctl ") }
        #expect(commands.count == 4)
        #expect(commands.allSatisfy { $0.hasPrefix("systemctl --user ") == isUser })
    }

    private func unit(_ unit: Surroundings.Unit, _ active: String) -> Surroundings.Unit {
        var unit = unit
        unit.active = active
        return unit
    }

    @Test func groupOfTheJournalIsNamedOnlyIfThePermissionIsMissing() {
        func remedy(_ status: ExitCode) -> String {
            remedies { $0.journalComplaint = .init(status: status, reason: "no") }
        }
        #expect(remedy(.notPermitted) == "Be root or in the group systemd-journal.")
        #expect(remedy(.unavailable).hasPrefix("Install journalctl"))
        #expect(remedy(.failed).contains("journalctl --verify"))
    }

    @Test func theGroupIsThatOfTheUnifiedHierarchy() {
        #expect(Surroundings.unifiedGroup("12:pids:/x\n0::/a/b\n") == "/a/b")
        #expect(Surroundings.unifiedGroup("12:pids:/x\n") == nil)
        let mounts = "cgroup /sys/fs/cgroup/pids cgroup rw 0 0\nnone /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
        #expect(Surroundings.unifiedRoot(mounts) == "/sys/fs/cgroup/unified")
        #expect(Surroundings.unifiedRoot("proc /proc proc rw 0 0\n") == nil)
    }
}
