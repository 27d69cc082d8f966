import LifecycleCore
import Testing

@Suite struct RouteTests {
    /// The states that a policy may choose as a target.
    static let targets = AppState.allCases.filter { $0 != .terminating }

    @Test(arguments: AppState.allCases, targets)
    func `every hop is an edge and leads to the target`(from: AppState, target: AppState) {
        var state = from
        var visited = [state]
        while let next = Route.next(from: state, toward: target) {
            #expect(Route.edge(from: state, to: next) != nil, "\(state) → \(next) is not in the table")
            state = next
            visited.append(state)
            guard visited.count <= 8 else { break }
        }
        #expect(state == target, "\(visited)")
    }

    @Test func `an active app resigns before anything else happens to it`() {
        for target in Self.targets where target != .active {
            #expect(Route.next(from: .active, toward: target) == .inactive)
        }
        #expect(Route.edges.filter { $0.from == .active }.map(\.before) == [.willResignActive])
    }

    @Test func `suspension itself is not announced`() throws {
        let edge = try #require(Route.edge(from: .background, to: .suspended))
        #expect(edge.before == nil && edge.after.isEmpty)
    }

    @Test func `coming back is announced twice and a cold start is not a coming back`() throws {
        #expect(Route.edge(from: .background, to: .inactive)?.before == .willEnterForeground)
        #expect(Route.edge(from: .inactive, to: .active)?.after == [.didBecomeActive])
        let start = try #require(Route.edge(from: .notRunning, to: .inactive))
        #expect(start.after == [.willFinishLaunching, .didFinishLaunching])
    }
}
