import Testing

@testable import Processes

@Suite struct OwnValuesTests {
    private static func subjects(_ count: Int) -> [OwnValues.Subject] {
        let process = ProcessIdentity(pid: 100, startTime: 7)
        return (0..<count).map { OwnValues.Subject(process: process, id: ProcessID(100 + $0)) }
    }

    /// Sets the nice value of each subject.
    private static func set(
        _ values: inout OwnValues, _ present: inout [Int], to desired: (_ own: Int) -> Int
    ) {
        var update = OwnValues.Update(values, of: CaseSet([.nice]), count: present.count)
        for (number, subject) in subjects(present.count).enumerated() {
            let own = update.own(.nice, of: subject, current: present[number])
            present[number] = desired(own)
            update.note(.nice, of: subject, own: own, present: present[number])
        }
        values = update.values
    }

    // A few values are searched one after the other, more through an index.
    @Test(arguments: [1, 3, 8, 16, 17, 100])
    func valuesThatWereSetAreGivenBack(_ count: Int) {
        var values = OwnValues()
        var present = Array(0..<count)
        Self.set(&values, &present) { _ in 500 }
        #expect(present == Array(repeating: 500, count: count))
        Self.set(&values, &present) { $0 }
        #expect(present == Array(0..<count))
        #expect(values.isEmpty)
    }

    @Test func valueThatTheProgramHasChosenIsItsOwn() {
        var values = OwnValues()
        var present = [1]
        Self.set(&values, &present) { _ in 10 }
        present = [3]
        Self.set(&values, &present) { $0 }
        #expect(present == [3] && values.isEmpty)
    }

    @Test func youngerBearerHasTheOwnValueThatItsValueStandsFor() {
        var values = OwnValues()
        var present = [2]
        Self.set(&values, &present) { _ in 10 }
        present = [10, 10]
        Self.set(&values, &present) { $0 }
        #expect(present == [2, 2])
    }

    // Few values are searched, many are in a table.
    @Test(arguments: [1, 40])
    func valueOfItsOwnIsKnownBeforeAndAfterAChangeThatWasPlanned(_ count: Int) {
        var values = OwnValues()
        var present = Array(repeating: 2, count: count)
        Self.set(&values, &present) { _ in 300 }
        var plan = OwnValues.Update(values, of: CaseSet([.nice]), count: 2 * count)
        for subject in Self.subjects(count) {
            let own = plan.own(.nice, of: subject, current: 300)
            plan.note(.nice, of: subject, own: own, before: 300, after: 100)
        }
        var update = OwnValues.Update(plan.values, of: CaseSet([.nice]), count: count)
        for (current, own) in [(300, 2), (100, 2), (50, 50)] {
            for subject in Self.subjects(count) { #expect(update.own(.nice, of: subject, current: current) == own) }
        }
    }

    @Test func entriesOfOtherSettingsStay() {
        var values = OwnValues()
        var present = [2]
        Self.set(&values, &present) { _ in 10 }
        var update = OwnValues.Update(values, of: CaseSet([.timerSlack]), count: 1)
        let own = update.own(.timerSlack, of: Self.subjects(1)[0], current: 10)
        update.note(.timerSlack, of: Self.subjects(1)[0], own: own, present: 50)
        #expect(update.values.entries.map(\.setting) == [.nice, .timerSlack])
        #expect(update.values.entries.map(\.own) == [2, 10])
    }

    @Test func writtenValuesAreReadInTheSameOrder() {
        var values = OwnValues()
        var present = Array(0..<12)
        Self.set(&values, &present) { _ in 19 }
        var numbers: [UInt64] = []
        values.forEachNumber(of: .nice) { numbers.append($0) }
        var again = OwnValues()
        #expect(again.append(of: .nice) { numbers.isEmpty ? nil : numbers.removeFirst() })
        #expect(again == values)
    }
}
