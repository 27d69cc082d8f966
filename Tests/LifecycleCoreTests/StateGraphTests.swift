import LifecycleCore
import Testing

@Suite struct StateGraphTests {
    /// The states that a policy may choose as a target.
    static let targets = AppState.allCases.filter { $0 != .terminating }

    @Test(arguments: AppState.allCases, targets)
    func `every hop is an edge and leads to the target`(from: AppState, target: AppState) {
        var state = from
        var visited = [state]
        while let next = state.next(toward: target) {
            #expect(state.edge(to: next) != nil, "\(state) → \(next) is not in the table")
            state = next
            visited.append(state)
            guard visited.count <= 8 else { break }
        }
        #expect(state == target, "\(visited)")
    }

    @Test func `active app resigns before any other step`() {
        for target in Self.targets where target != .active {
            #expect(AppState.active.next(toward: target) == .inactive)
        }
        #expect(AppState.allCases.compactMap { AppState.active.edge(to: $0)?.before } == [.willResignActive])
    }

    @Test func `suspension itself is not announced`() throws {
        let edge = try #require(AppState.background.edge(to: .suspended))
        #expect(edge.before == nil && edge.after.isEmpty)
    }

    @Test func `coming back is announced twice and a cold start is not a coming back`() throws {
        #expect(AppState.background.edge(to: .inactive)?.before == .willEnterForeground)
        #expect(AppState.inactive.edge(to: .active)?.after == [.didBecomeActive])
        let start = try #require(AppState.notRunning.edge(to: .inactive))
        #expect(start.after == [.willFinishLaunching, .didFinishLaunching])
    }

    /// The core sends no other callback: one of a scene names it, and one of an app names none.
    @Test func callbacksOfAStepAreAboutItsSubject() {
        for from in AppState.allCases {
            let edges = AppState.allCases.compactMap { from.edge(to: $0) }
            #expect(edges.allSatisfy { !($0.after + [$0.before].compactMap { $0 }).contains { $0.isAboutScene } })
        }
        for from in SceneState.allCases {
            let edges = SceneState.allCases.compactMap { from.edge(to: $0) }
            #expect(edges.allSatisfy { ($0.after + [$0.before].compactMap { $0 }).allSatisfy { $0.isAboutScene } })
        }
    }

    /// The core takes these steps to a `RunningState` alone, and would take any other without its callback, or not at all.
    @Test func launchesAndStepsBehindACallbackLeadToARunningState() {
        let edges = AppState.allCases.flatMap { from in AppState.allCases.compactMap { from.edge(to: $0) } }
        let steps = edges.filter { $0.before != nil || $0.process == .spawn }
        #expect(steps.count == 4 && steps.allSatisfy { RunningState($0.to) != nil })
    }
}
