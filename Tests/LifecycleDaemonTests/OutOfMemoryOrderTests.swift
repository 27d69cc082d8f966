import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct OutOfMemoryOrderTests {
    /// Inserts an app, and returns the numbers that have changed by the positions of the apps.
    private func insert(_ app: Int, _ order: inout OutOfMemoryOrder) -> [Int: Int] {
        Dictionary(uniqueKeysWithValues: order.insert(AppIndex(value: app)).map { ($0.value, order[$0] ?? -1) })
    }

    @Test func appSuspendedFirstIsKilledFirst() {
        var order = OutOfMemoryOrder(lowest: 600)
        let (first, second) = (AppIndex(value: 4), AppIndex(value: 1))
        #expect(insert(4, &order) == [4: 1000])
        #expect(insert(1, &order) == [1: 999])
        #expect(Array(order.apps) == [first, second])
        #expect(insert(4, &order) == [4: 998])
        #expect(Array(order.apps) == [second, first])
        order.remove(second)
        #expect(order[second] == nil && order[first] == 998)
    }

    @Test func numbersThatAreUsedUpAreGivenOutAnew() {
        var order = OutOfMemoryOrder(lowest: 998)
        for app in 1...3 { _ = insert(app, &order) }
        order.remove(AppIndex(value: 2))
        #expect(insert(4, &order) == [3: 999, 4: 998])
        #expect(order[AppIndex(value: 1)] == 1000)
        #expect(insert(5, &order) == [5: 998])
        #expect(order[AppIndex(value: 4)] == 998)
    }

    /// Each number that changes is a file to be written.
    @Test func manyAppsCostNoMoreThanFew() {
        var order = OutOfMemoryOrder(lowest: 901)
        for app in 0..<10_000 { #expect(order.insert(AppIndex(value: app)).count == 1) }
        var changes = 0
        for round in 0..<1_000 {
            order.remove(AppIndex(value: round))
            changes += order.insert(AppIndex(value: round)).count
        }
        // One each, and a hundred after every fifty.
        #expect(changes <= 1_000 + 1_000 / 50 * 101)
    }

    @Test func theOrderIsThatOfTheSuspensions() {
        var order = OutOfMemoryOrder(lowest: 990)
        var suspended: [AppIndex] = []
        for round in 0..<500 {
            let app = AppIndex(value: round * 7 % 13)
            suspended.removeAll { $0 == app }
            if round % 3 == 0 {
                order.remove(app)
            } else {
                _ = order.insert(app)
                suspended.append(app)
            }
            let scores = suspended.compactMap { order[$0] }
            #expect(scores.count == suspended.count && Array(order.apps) == suspended)
            #expect(scores == scores.sorted(by: >))
            // Only the lowest is shared.
            #expect(Set(scores).count + scores.count { $0 == 990 } >= scores.count)
        }
    }
}
