import CommandLineTable
import ControlAPI
import LifecycleTypes
import Testing

@testable import lifectl

private func app(_ id: String, _ state: AppState, target: AppState? = nil) -> APIApp {
    APIApp(
        id: id, name: nil, state: state, target: target ?? state, reason: .focus, foreground: false, connected: false,
        adHoc: false, pid: state == .notRunning ? nil : 123, sinceUSec: 1_000_000, stoppedByOther: false)
}

@Suite struct OutputTests {
    private let plain = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: 66_000_000)

    @Test func tablesAreAligned() {
        let text = plain.list([app("org.example.Clock", .active), app("a", .suspended, target: .active)])
        #expect(
            text == """
                ID                 STATE               PID      SINCE  REASON
                org.example.Clock  active              123  1 min 5 s  focus
                a                  suspended → active  123  1 min 5 s  focus

                """)
    }

    @Test func sentencesHaveTheState() {
        #expect(plain.sentence(app("a", .active)) == "a is active (pid 123)\n")
        #expect(plain.sentence(app("a", .notRunning)) == "a is not running\n")
    }

    @Test func othersWordsDoNotCommandTheTerminal() {
        let text = plain.list([app("a\u{1b}[31m\n\u{202e}", .active)])
        #expect(!text.contains("\u{1b}") && !text.contains("\u{202e}"))
        #expect(text.split(separator: "\n").count == 2)
    }

    @Test(arguments: [
        (true, ["TERM": "xterm"], true), (false, ["TERM": "xterm"], false), (true, ["TERM": "dumb"], false),
        (true, [:], false), (true, ["TERM": "xterm", "NO_COLOR": "1"], false),
        (true, ["TERM": "xterm", "NO_COLOR": ""], true),
    ])
    func colourIsForTerminalsThatWantIt(_ isTerminal: Bool, _ environment: [String: String], _ expected: Bool) {
        #expect(Style(isTerminal: isTerminal, environment: environment).isColoured == expected)
    }

    @Test(arguments: [
        (Int64(-5), "0.0 s"), (7_800_000, "7.8 s"), (306_000_000, "5 min 6 s"), (3_660_000_000, "1 h 1 min"),
        (273_600_000_000, "3 d 4 h"), (.max, "106751991 d 4 h"),
    ])
    func agesHaveTwoUnits(_ microseconds: Int64, _ text: String) {
        #expect(Instants.age(microseconds) == text)
    }

    @Test func processorTimeHasHundredths() {
        #expect(Instants.processorTime(67_350_000) == "1:07.35")
    }
}

private let notes = APIApp(
    id: "org.example.Notes", name: nil, state: .active, target: .active, reason: .focus, foreground: true,
    connected: true, adHoc: false, pid: 123, sinceUSec: 1_000_000,
    scenes: [
        APIScene(
            id: "main", role: "window", state: .foregroundActive, target: .foregroundActive, reason: .focus,
            sinceUSec: 60_000_000, info: "{\"note\": 4}"),
        APIScene(
            id: "scene-2", role: "tool", state: .background, target: .foregroundActive, reason: .scene,
            sinceUSec: 61_000_000),
    ], stoppedByOther: false)

@Suite struct SceneOutputTests {
    private let plain = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: 66_000_000)

    @Test func scenesStandBelowTheirApp() {
        #expect(
            plain.list([notes]) == """
                ID                 STATE                          PID      SINCE  REASON
                org.example.Notes  active                         123  1 min 5 s  focus
                  main             foregroundActive                 -      6.0 s  focus
                  scene-2          background → foregroundActive    -      5.0 s  scene

                """)
    }

    @Test func scenesAreListedWithTheirInfo() {
        #expect(
            plain.scenes(ListedScenes(apps: [notes, app("a", .active)]).scenes) == """
                SCENE                      ROLE    STATE                          SINCE  REASON  INFO
                org.example.Notes/main     window  foregroundActive               6.0 s  focus   {"note": 4}
                org.example.Notes/scene-2  tool    background → foregroundActive  5.0 s  scene   -

                """)
        #expect(plain.scenes([]) == "no scenes\n")
    }

    @Test func aListedSceneIsOneObject() throws {
        let line = JSON.line(ListedScenes(apps: [notes]))
        #expect(line.hasPrefix(#"{"scenes":[{"app":"org.example.Notes","scene":{"id":"main","role":"window""#))
    }

    @Test func theDetailsOfAnAppHaveItsScenes() {
        let details = APIDetails(
            app: notes, command: ["notes"], adopted: false, processes: [], assertions: [], failures: 0,
            restartLimitReached: false, uncontrolledProcesses: [], ended: false)
        #expect(plain.details(details).contains("\n\nSCENE    ROLE    STATE"))
    }

    @Test func aChangeOfASceneIsALine() {
        let step = APISceneTransition(
            app: "a", scene: "main", from: .unattached, to: .foregroundInactive, reason: .scene, timeUSec: 0)
        let text = plain.change(MonitorReply(number: 1, scene: step))
        #expect(text.hasSuffix("  a/main  unattached → foregroundInactive  scene\n"))
        #expect(plain.change(MonitorReply(number: 0, apps: [notes])).split(separator: "\n").count == 3)
    }

    @Test func aSceneIsNamedByItsAppAndItsID() throws {
        #expect(try SceneName("a/b") == SceneName("a", "b"))
        for text in ["a", "a/", "/b", "", "/"] { #expect(throws: Failure.self) { try SceneName(text) } }
        #expect(["main", "scene-2", "A.b_c", String(repeating: "x", count: 64)].allSatisfy(SceneID.isWord))
        let wrong = ["", "a/b", "a b", "ä", "e\u{301}", String(repeating: "x", count: 65)]
        #expect(!wrong.contains(where: SceneID.isWord))
    }
}

@Suite struct InterruptionTests {
    @Test func endOfAnInterruptionThatWasNotUnderWayIsNoEnd() {
        #expect(Interruption.sentence(ofEndOf: "call", among: ["a", "call"]) == "the interruption call has ended\n")
        #expect(Interruption.sentence(ofEndOf: "call", among: ["alarm"]) == "no interruption call was under way\n")
        #expect(Interruption.sentence(ofEndOf: nil, among: ["interruption"]) == "the interruption has ended\n")
        #expect(Interruption.sentence(ofEndOf: nil, among: ["call"]) == "no interruption was under way\n")
    }
}

@Suite struct FailureTests {
    private func failure(_ error: ControlClientError) -> Failure {
        Failure(error, doing: "cannot focus a", sockets: ["/s", "/t"], timeout: .seconds(60))
    }

    @Test func numbersAreDistinctAndDocumented() {
        #expect(Set(ExitCode.allCases.map(\.rawValue)).count == ExitCode.allCases.count)
        #expect(Set(ExitCode.allCases.map(\.meaning)).count == ExitCode.allCases.count)
    }

    @Test func everyDeclineHasItsNumber() {
        let expected: [(ControlError.Kind, ExitCode)] = [
            (.noSuchApp, .noSuchApp), (.noSuchScene, .noSuchApp), (.ambiguous, .ambiguous), (.invalidApp, .invalidData),
            (.notRunning, .notRunning), (.noSuchInterruption, .noSuchInterruption),
            (.refused, .refused),
            (.superseded, .superseded), (.notPermitted, .notPermitted), (.interrupted, .interrupted),
            (.unanswered, .unanswered),
            (.ended, .ended), (.stopping, .stopping), (.launchFailed, .launchFailed), (.failed, .failed),
            (.subscriptionOverrun, .failed),
        ]
        #expect(expected.count == ControlError.Kind.allCases.count)
        for (kind, status) in expected {
            let error = ControlError(kind, id: "a", reason: "it is so", remedy: "do this")
            let failure = failure(.declined(error))
            #expect(failure.status == status && failure.message == "cannot focus a: it is so; do this")
            #expect(failure.object.error == "org.lifed.\(kind.rawValue)")
        }
    }

    @Test func closedConnectionNamesTheLimitsThatMayBeExceeded() {
        let failure = failure(.closed)
        #expect(failure.status == .unavailable && failure.message.contains("it has stopped"))
        #expect(["limits.clients", "limits.messageBytes"].allSatisfy(failure.message.contains))
    }

    @Test func remedyOfTheDaemonIsAClause() {
        let error = ControlError(.refused, id: "b", reason: "it is so", remedy: "Do this.")
        #expect(failure(.declined(error)).message == "cannot focus a: b: it is so; do this")
    }

    @Test func failureIsAnObjectWithErrorMessageAndParameters() {
        let error = ControlError(.noSuchApp, id: "a", reason: "there is no such\napp", remedy: "look")
        #expect(
            JSON.line(failure(.declined(error)).object)
                == #"{"error":"org.lifed.NoSuchApp","message":"cannot focus a: there is no such app; look","#
                + #""parameters":{"id":"a","reason":"there is no such\napp","remedy":"look"}}"# + "\n")
        let own = Failure(.timedOut, "cannot focus a", "no answer").object
        #expect(own.error == "org.lifed.lifectl.TimedOut" && own.parameters == ["reason": "no answer"])
    }

    @Test(arguments: [
        (ControlClientError.absent(path: "/t"), ExitCode.unavailable), (.notPermitted(path: nil), .notPermitted),
        (.notPermitted(path: "/s"), .notPermitted), (.unreachable(path: "/s", errno: 111), .unavailable),
        (.closed, .unavailable), (.timedOut, .timedOut), (.callTooLong(limit: 5), .usage),
        (.parameterNotTaken("name"), .usage), (.notUnderstood("x\ny"), .protocol),
        (.system(call: "poll", errno: 12), .failed),
    ])
    func everyFailureIsOneLine(_ error: ControlClientError, _ status: ExitCode) {
        let failure = failure(error)
        #expect(failure.status == status)
        #expect(failure.line.hasPrefix("lifectl: cannot focus a: "))
        #expect(!failure.line.contains("\n"))
    }

    @Test func theRemedyNamesWhereTheDaemonWasLookedFor() {
        #expect(failure(.absent(path: "/t")).message.contains("/s or /t"))
        #expect(failure(.timedOut).message.contains("60 s"))
    }
}

/// Numbers as lifectl writes them.
@Suite struct NumberTests {
    @Test(arguments: [
        (Duration.seconds(60), "60 s"), (.milliseconds(500), "0.5 s"), (.milliseconds(1_250), "1.25 s"),
        (.milliseconds(3_005), "3.005 s"), (.microseconds(999), "0 s"),
    ])
    func secondsHaveNoZerosAtTheirEnd(time: Duration, text: String) {
        #expect(Text.seconds(time) == text)
    }
}
