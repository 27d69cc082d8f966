import Testing

@testable import LifecycleDaemon

@Suite struct OutOfMemoryOrderTests {
    @Test func appSuspendedFirstIsKilledFirst() {
        var order = OutOfMemoryOrder<String>(lowest: 600)
        #expect(order.insert("a") == ["a": 1000])
        #expect(order.insert("b") == ["b": 999])
        #expect(order.insert("a") == ["a": 998])
        order.remove("b")
        #expect(order["b"] == nil && order["a"] == 998)
    }

    @Test func numbersThatAreUsedUpAreGivenOutAnew() {
        var order = OutOfMemoryOrder<Int>(lowest: 998)
        for app in 1...3 { _ = order.insert(app) }
        order.remove(2)
        #expect(order.insert(4) == [3: 999, 4: 998])
        #expect(order[1] == 1000)
        #expect(order.insert(5) == [5: 998])
        #expect(order[4] == 998)
    }

    /// Each number that changes is a file to be written.
    @Test func manyAppsCostNoMoreThanFew() {
        var order = OutOfMemoryOrder<Int>(lowest: 901)
        for app in 0..<10_000 { #expect(order.insert(app).count == 1) }
        var changes = 0
        for round in 0..<1_000 {
            order.remove(round)
            changes += order.insert(round).count
        }
        // One each, and a hundred after every fifty.
        #expect(changes <= 1_000 + 1_000 / 50 * 101)
    }

    @Test func theOrderIsThatOfTheSuspensions() {
        var order = OutOfMemoryOrder<Int>(lowest: 990)
        var suspended: [Int] = []
        for round in 0..<500 {
            let app = round * 7 % 13
            suspended.removeAll { $0 == app }
            if round % 3 == 0 {
                order.remove(app)
            } else {
                _ = order.insert(app)
                suspended.append(app)
            }
            let scores = suspended.compactMap { order[$0] }
            #expect(scores.count == suspended.count)
            #expect(scores == scores.sorted(by: >))
            // Only the lowest is shared.
            #expect(Set(scores).count + scores.count { $0 == 990 } >= scores.count)
        }
    }
}
