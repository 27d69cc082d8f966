import LifecycleCore

/// Changes the focus again and again in a core of many apps, for valgrind to count: core-bench APPS ROUNDS
///
/// The apps have no callbacks. Each round brings the next of two suspended apps to the foreground until the request is answered, and
/// lets the other one be suspended.
@main struct CoreBench {
    /// An app with its index: the apps have them in the order of their definitions.
    private struct App {
        let id: AppID
        let index: AppIndex
    }

    private var core = Lifecycle()
    private var now = Instant(microseconds: 1_000_000)
    private var requests: UInt64 = 0
    private var answers: UInt64 = 0

    static func main() {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        guard numbers.count == 2, numbers[0] >= 2 else { return print("usage: core-bench APPS ROUNDS") }
        var bench = CoreBench()
        let apps = (0..<numbers[0]).map { App(id: AppID("org.example.App\($0)"), index: AppIndex(value: $0)) }
        for (app, previous) in zip(apps, [nil] + apps) { bench.launch(app, after: previous) }
        var previous = apps[apps.count - 1]
        for round in 0..<numbers[1] {
            bench.switchFocus(to: apps[round % 2], from: previous)
            previous = apps[round % 2]
        }
        precondition(bench.answers == bench.requests, "a request was not answered")
        print("\(apps.count) apps, \(numbers[1]) rounds; \(MemoryLayout<AppMachine>.size) bytes an app")
    }

    private mutating func launch(_ app: App, after previous: App?) {
        give(.define(app.id, Policy()))
        request(.launch(app.id, background: false))
        give(.outcome(app.index, .spawned))
        if let previous { suspend(previous) }
    }

    private mutating func switchFocus(to next: App, from previous: App) {
        focus(next)
        resumed(next)
        suspend(previous)
    }

    @inline(never) private mutating func focus(_ app: App) { request(.focus(app.id)) }

    @inline(never) private mutating func resumed(_ app: App) { give(.outcome(app.index, .resumed)) }

    private mutating func suspend(_ app: App) {
        backgroundTimeOver()
        stopped(app)
    }

    @inline(never) private mutating func backgroundTimeOver() {
        if let deadline = core.nextDeadline { now = deadline }
        give(.tick)
    }

    @inline(never) private mutating func stopped(_ app: App) { give(.outcome(app.index, .stopped)) }

    private mutating func request(_ wanted: Request) {
        requests += 1
        give(.request(RequestID(requests), wanted))
    }

    private mutating func give(_ input: Input) {
        for effect in core.handle(input, at: now) {
            if case .reply = effect { answers += 1 }
        }
        while core.takeChangedIndex() != nil {}
    }
}
