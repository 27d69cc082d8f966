@testable import ControlAPI

/// Values with every field set, so that every field shows in their JSON.
enum Samples {
    static let reclaim = Reclaim(cause: "short", order: ["a", "b"], candidates: 2, freed: 4096)
    static let exit = Exit(state: .active, reason: "crashed", exitCode: 3, signal: 11, time: 5, reclaim: reclaim)
    static let app = App(
        id: "org.example.Clock", name: "Clock", state: .active, target: .suspended, reason: "focus", inFront: true,
        linked: false, adHoc: true, pid: 42, containment: .cgroup, since: 7, lastExit: exit,
        scenes: [scene], stoppedByOther: true)
    static let scene = Scene(
        id: "scene-2", role: "window", state: .background, target: .foregroundActive, reason: "focus", since: 8,
        info: "{}")
    static let sceneTransition = SceneTransition(
        app: "org.example.Clock", scene: "main", from: .unattached, to: .background, reason: "system", time: 14,
        callback: 18)
    static let process = Process(pid: 42, parent: 1, command: "clock --big", state: "T", cpuTime: 9)
    static let hold = Hold(kind: .task, number: 1, name: "upload", since: 5, until: 6)
    static let schedule = Schedule(kind: "fetch", at: "hourly", next: 19)
    static let details = Details(
        app: app, command: ["clock"], user: "kim", manifest: "/etc/lifed/apps.d/clock.toml", adopted: true,
        processes: [process], awaiting: "did-enter-background", backgroundUntil: 11,
        holds: [hold], restartAt: 12, failures: 3, givenUp: true,
        schedules: [schedule], unheld: [unheld], frozen: "its manifest says so", launchFailure: "permission denied",
        launchRemedy: "make it executable",
        ended: true)
    static let unheld = UnheldProcess(pid: 43, command: "sleep 9", user: "root", reason: "another user")
    static let obstacle = Obstacle(kind: .answer, names: ["will-resign-active"], since: 20, until: 21)
    static let prospect = Prospect(kind: .transition, time: 22, from: .background, to: .suspended, reason: "idle")
    static let explanation = Explanation(
        details: details, next: .suspended, obstacles: [obstacle], prospects: [prospect])
    static let historyEvent = HistoryEvent(
        kind: .exited, id: "x", time: 23, from: .active, to: .notRunning, reason: "crash", pid: 42, callback: 24,
        exitCode: 1, signal: 9, stateTime: 25)
    static let transition = Transition(
        id: "org.example.Clock", from: .active, to: .inactive, reason: "home", time: 13, pid: 42, callback: 17)
    static let launchable = Launchable(
        id: "clock", name: "Clock", source: .desktopEntry, file: "/clock.desktop", running: true, shown: true,
        problem: "/clock.desktop:3: Terminal=true")
    static let problem = Problem(file: "/etc/lifed/lifed.toml", line: 3, message: "expected a number")
    static let status = Status(
        version: "0.1.0", pid: 1, instance: "user", socket: "/s", started: 2, front: ["a"], interruptions: ["call"],
        concealments: ["locked"], homeApp: "h", apps: 3, running: 2, clients: 1, journal: true, problems: [problem])
    static let run = RunParameters(
        command: ["sh"], id: "x", environment: ["A": "b"], workingDirectory: "/", background: true)
}
