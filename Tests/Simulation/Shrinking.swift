package import LifecycleCore

/// Makes a history that fails as short as it can be had, by leaving out what it fails without (delta debugging).
package struct Shrinking {
    /// The shortest history so far.
    package private(set) var scenario: Scenario
    /// What goes wrong, without names and numbers, so that no other problem is taken for it.
    private let wanted: String
    private let inspect: (@Sendable (Engine, Instant) -> String?)?
    private var runs = 0
    private static let runLimit = 4000

    package init(_ run: Run, inspect: (@Sendable (Engine, Instant) -> String?)? = nil) {
        scenario = run.scenario
        self.inspect = inspect
        wanted = Self.kind(of: run.problems.first ?? "")
        scenario.steps = Array(scenario.steps.prefix(run.steps))
    }

    /// The shortest history that fails as this one does.
    package static func shrink(
        _ run: Run, inspect: (@Sendable (Engine, Instant) -> String?)? = nil
    ) -> Run {
        guard !run.problems.isEmpty else { return run }
        var shrinking = Shrinking(run, inspect: inspect)
        shrinking.shrink()
        return Run(shrinking.scenario, isTold: true, inspect: inspect)
    }

    package mutating func shrink() {
        var before = -1
        while before != scenario.steps.count, runs < Self.runLimit {
            before = scenario.steps.count
            leaveOutSteps()
            simplifySetup()
            simplifySteps()
        }
    }

    private mutating func leaveOutSteps() {
        var size = max(1, scenario.steps.count / 2)
        while true {
            var start = 0
            while start < scenario.steps.count {
                var shorter = scenario
                let end = min(start + size, shorter.steps.count)
                shorter.steps.removeSubrange(start..<end)
                if !accept(shorter) { start += size }
            }
            if size == 1 { break }
            size /= 2
        }
    }

    private mutating func simplifySteps() {
        for index in scenario.steps.indices {
            var simpler = scenario
            simpler.steps[index].pause = .zero
            if accept(simpler) { continue }
            simpler.steps[index].pause = .milliseconds(scenario.steps[index].pause.wholeMicroseconds / 1000)
            _ = accept(simpler)
        }
    }

    private mutating func simplifySetup() {
        simplify { $0.hasFaults = false }
        simplify { $0.deaths = .none }
        simplify { $0.settings = Settings() }
        for index in scenario.setup.apps.indices.reversed() {
            simplify { $0.apps.remove(at: index) }
        }
        for index in scenario.setup.apps.indices {
            simplify { $0.apps[index].manner = .good }
            simplify { $0.apps[index].policy = Policy() }
            simplify { $0.apps[index].policy.launchAtStart = nil }
            simplify { $0.apps[index].policy.restart = .never }
            simplify { $0.apps[index].policy.callbacks = .auto }
            simplify { $0.apps[index].policy.isTransient = false }
            simplify { $0.apps[index].policy.takesURLs = false }
            simplify { $0.apps[index].policy.suspend = .auto }
            simplify { $0.apps[index].policy.scenes = false }
            simplify { $0.apps[index].policy.sceneLimit = 1 }
        }
    }

    private mutating func simplify(_ change: (inout Setup) -> Void) {
        var simpler = scenario
        change(&simpler.setup)
        _ = accept(simpler)
    }

    /// Goes on with a history that still fails.
    private mutating func accept(_ other: Scenario) -> Bool {
        guard runs < Self.runLimit else { return false }
        runs += 1
        let run = Run(other, inspect: inspect)
        guard let problem = run.problems.first, Self.kind(of: problem) == wanted else { return false }
        scenario = other
        scenario.steps = Array(scenario.steps.prefix(run.steps))
        return true
    }

    /// A problem's words without names and numbers.
    package static func kind(of problem: String) -> String {
        problem.split { !$0.isLetter && $0 != "-" }.filter { $0.count > 1 }.joined(separator: " ")
    }
}
