import Testing

@testable import Processes

@Suite struct OwnValuesTests {
    private static func bearers(_ count: Int, current: (Int) -> Int) -> [(bearer: OwnValues.Bearer, current: Int)] {
        (0..<count).map { number in
            let process = ProcessIdentity(pid: 100, startTime: 7)
            return (OwnValues.Bearer(process: process, id: ProcessID(100 + number)), current(number))
        }
    }

    // A few values are searched one after the other, more through an index.
    @Test(arguments: [1, 3, 8, 9, 100])
    func valuesThatWereSetAreGivenBack(_ count: Int) {
        var values = OwnValues()
        values.update(Self.bearers(count) { $0 }) { _ in
            500
        } set: { _, _ in
            true
        }
        var present = [Int](repeating: 500, count: count)
        values.update(Self.bearers(count) { present[$0] }) { own in
            own
        } set: { bearer, value in
            present[Int(bearer.id) - 100] = value
            return true
        }
        #expect(present == Array(0..<count))
        #expect(values.isEmpty)
    }

    @Test func writtenValuesAreReadInTheSameOrder() {
        var values = OwnValues()
        values.update(Self.bearers(12) { $0 }) { _ in
            19
        } set: { _, _ in
            true
        }
        var numbers: [UInt64] = []
        values.forEachNumber { numbers.append($0) }
        let again = OwnValues(within: 0...19) { numbers.isEmpty ? nil : numbers.removeFirst() }
        #expect(again == values)
    }
}
