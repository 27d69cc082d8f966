import ControlAPI
import LifecycleTypes

/// Values with every field set, so that every field shows in their JSON.
enum Samples {
    static let reclaim = APIReclaim(cause: "short", order: ["a", "b"], candidates: 2, freedBytes: 4096)
    static let exit = APIExit(
        state: .active, reason: .crash, exitCode: 3, signal: 11, timeUSec: 5, reclaim: reclaim, restoreFailed: true)
    static let app = APIApp(
        id: "org.example.Clock", name: "Clock", state: .active, target: .suspended, reason: .focus, foreground: true,
        connected: false, adHoc: true, pid: 42, containment: .cgroup, sinceUSec: 7, lastExit: exit,
        scenes: [scene], stoppedByOther: true)
    static let scene = APIScene(
        id: "scene-2", role: "window", state: .background, target: .foregroundActive, reason: .focus, sinceUSec: 8,
        info: "{}")
    static let sceneTransition = APISceneTransition(
        app: "org.example.Clock", scene: "main", from: .unattached, to: .background, reason: .scene, timeUSec: 14,
        answerUSec: 18)
    static let process = APIProcess(pid: 42, parentPid: 1, command: "clock --big", state: "T", cpuTimeUSec: 9)
    static let assertion = APIAssertion(kind: .task, number: 1, name: "upload", sinceUSec: 5, untilUSec: 6)
    static let details = APIDetails(
        app: app, command: ["clock"], user: "kim", manifest: "/etc/lifed/apps.d/clock.toml", adopted: true,
        processes: [process], pendingCallback: "did-enter-background", backgroundUntilUSec: 11,
        assertions: [assertion], restartAtUSec: 12, failures: 3, restartLimitReached: true,
        uncontrolledProcesses: [uncontrolled], freezeReason: "its manifest says so",
        launchFailure: "permission denied",
        launchRemedy: "make it executable",
        ended: true)
    static let uncontrolled = APIUncontrolledProcess(pid: 43, command: "sleep 9", user: "root", cause: "another user")
    static let condition = APIStateCondition(
        kind: .callback, names: ["will-resign-active"], sinceUSec: 20, untilUSec: 21)
    static let prospect = APIProspect(
        kind: .transition, timeUSec: 22, from: .background, to: .suspended, reason: .idle, callback: "open-url")
    static let explanation = APIExplanation(
        details: details, next: .suspended, conditions: [condition], prospects: [prospect])
    static let historyEvent = APIHistoryEvent(
        kind: .exited, id: "x", timeUSec: 23, from: .active, to: .notRunning, reason: .crash, callback: "c", error: "e",
        pid: 42, answerUSec: 24, exitCode: 1, signal: 9, stateUSec: 25,
        restoreFailed: true)
    static let transition = APITransition(
        id: "org.example.Clock", from: .active, to: .inactive, reason: .home, timeUSec: 13, pid: 42,
        answerUSec: 17)
    static let availableApp = APIAvailableApp(
        id: "clock", name: "Clock", source: .desktopEntry, file: "/clock.desktop", running: true, shown: true,
        problem: "/clock.desktop:3: Terminal=true")
    static let problem = APIProblem(file: "/etc/lifed/lifed.toml", line: 3, message: "expected a number")
    static let status = APIStatus(
        version: "0.1.0", pid: 1, instance: "user", socket: "/s", startedUSec: 2, foreground: ["a"],
        interruptions: ["call"],
        foregroundBlockers: [.locked, .switchedAway], homeApp: "h", apps: 3, running: 2, clients: 1, journal: true,
        containment: .keeper, problems: [problem])
    static let run = RunParameters(
        command: ["sh"], id: "x", environment: ["A": "b"], workingDirectory: "/", background: true)
}
