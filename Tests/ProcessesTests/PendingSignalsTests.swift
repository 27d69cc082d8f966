import Testing

@testable import Processes

@Suite struct PendingSignalsTests {
    /// The text of a `status` file with these sets of signals.
    private static func status(
        pending: Set<Int> = [], shared: Set<Int> = [], blocked: Set<Int> = [], ignored: Set<Int> = [],
        caught: Set<Int> = []
    ) -> [UInt8] {
        func set(_ numbers: Set<Int>) -> String {
            String(numbers.reduce(UInt64(0)) { $0 | 1 << UInt64($1 - 1) }, radix: 16)
        }
        return Array(
            """
            Name:\tsleep
            State:\tT (stopped)
            SigQ:\t1/63520
            SigPnd:\t\(set(pending))
            ShdPnd:\t\(set(shared))
            SigBlk:\t\(set(blocked))
            SigIgn:\t\(set(ignored))
            SigCgt:\t\(set(caught))

            """.utf8)
    }

    private static func numbers(_ status: [UInt8]) -> [Int] {
        let signals = PendingSignals.parse(status)
        return (1...64).filter { signals.rawValue >> UInt64($0 - 1) & 1 == 1 }
    }

    @Test func signalsThatMayEndAProcessAreFoundInItsStatus() {
        #expect(Self.numbers(Self.status(pending: [15], shared: [1, 10, 14, 34])) == [1, 10, 14, 15, 34])
    }

    @Test func requestsToEndCountWithAHandlerAndWhereTheyAreBlocked() {
        #expect(Self.numbers(Self.status(shared: [1, 2, 3, 15], caught: [1, 15])) == [1, 2, 3, 15])
        #expect(Self.numbers(Self.status(shared: [15], blocked: [15])) == [15])
    }

    @Test func otherSignalsCountByTheirDefaultActionOnly() {
        #expect(Self.numbers(Self.status(shared: [10, 14, 34], caught: [10, 34])) == [14])
        #expect(Self.numbers(Self.status(shared: [10, 12], blocked: [12])) == [10])
    }

    @Test func signalsThatAreIgnoredOrEndNoProcessDoNotCount() {
        #expect(Self.numbers(Self.status(shared: [1, 15, 10], ignored: [1, 15, 10])) == [])
        #expect(Self.numbers(Self.status(shared: [17, 18, 20, 21, 22, 23, 28])) == [])
        #expect(Self.numbers([]) == [])
    }
}
