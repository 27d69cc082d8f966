import Testing

@testable import LifecycleDaemon

@Suite struct ConnectionHoldersTests {
    private typealias Holder = ConnectionHolders.Holder

    /// Connects, and returns the number of the connection that was closed for it.
    private static func connect(
        _ number: Int32, _ holder: ConnectionHolders.Holder, _ holders: inout ConnectionHolders
    ) -> Int32? {
        let surplus = holders.surplus(for: holder)
        if let surplus { holders.remove(surplus) }
        holders.insert(number, of: holder)
        return surplus
    }

    @Test func programThatHoldsAllConnectionsOfItsUserDoesNotKeepOutOthers() {
        var holders = ConnectionHolders()
        let greedy = Holder(user: 1000, unit: "app-greedy-1.scope", process: 100)
        let editor = Holder(user: 1000, unit: "app-editor-1.scope", process: 200)
        #expect(Self.connect(1, editor, &holders) == nil)
        for number in 2...64 as ClosedRange<Int32> { #expect(Self.connect(number, greedy, &holders) == nil) }
        // A child of the greedy program is no other program.
        for number in 65...1000 as ClosedRange<Int32> {
            let child = Holder(user: 1000, unit: greedy.unit, process: 100 + number)
            let closed = Self.connect(number, child, &holders)
            #expect(closed != nil && closed != 1)
        }
        let mail = Holder(user: 1000, unit: "app-mail-1.scope", process: 300)
        let closed = Self.connect(1001, mail, &holders)
        #expect(closed != nil && closed != 1)
        for number in 1002...2000 as ClosedRange<Int32> {
            let closed = Self.connect(number, greedy, &holders)
            #expect(closed != 1 && closed != 1001)
        }
    }

    @Test func processThatHoldsMostOfItsUnitLosesOne() {
        var holders = ConnectionHolders()
        let modest = Holder(user: 1000, unit: "session-2.scope", process: 1)
        let greedy = Holder(user: 1000, unit: "session-2.scope", process: 2)
        _ = Self.connect(1, modest, &holders)
        for number in 2...64 as ClosedRange<Int32> { _ = Self.connect(number, greedy, &holders) }
        #expect(Self.connect(65, Holder(user: 1000, unit: "session-2.scope", process: 3), &holders) == 2)
    }

    @Test func usersWithManyConnectionsDoNotKeepOutOthers() {
        var holders = ConnectionHolders()
        var number: Int32 = 0
        for user in 1000...1004 as ClosedRange<UInt32> {
            for _ in 0..<64 {
                number += 1
                _ = Self.connect(number, Holder(user: user, unit: "user-\(user).scope", process: 10), &holders)
            }
        }
        let last = Holder(user: 2000, unit: "session-9.scope", process: 11)
        #expect(Self.connect(10_000, last, &holders) != nil)
        // The greedy ones go on, and displace each other.
        for _ in 0..<1000 {
            number += 1
            let user = 1000 + UInt32(number % 5)
            #expect(
                Self.connect(number, Holder(user: user, unit: "user-\(user).scope", process: 10), &holders) != 10_000)
        }
    }
}
