import LifecycleCore
import Testing

@testable import LifecycleDaemon

@MainActor @Suite struct ClockDifferenceTests {
    @MainActor private final class Clocks {
        var core: Int64 = 5_000_000
        var ahead: Int64 = 1_000_000_000
        /// The time between the readings of the two clocks.
        var pause: Int64 = 1

        func read() -> ClockDifference.Reading {
            let before = core
            core += pause
            return ClockDifference.Reading(before: before, wall: core + ahead, after: core)
        }
    }

    @Test func differenceIsStableBetweenReadings() {
        let clocks = Clocks()
        let difference = ClockDifference(read: clocks.read)
        let first = difference.microseconds
        clocks.pause = 200
        #expect(difference.microseconds == first)
    }

    @Test func delayBetweenReadingsIsNoClockThatWasSet() {
        let clocks = Clocks()
        let difference = ClockDifference(read: clocks.read)
        let first = difference.microseconds
        clocks.pause = 300_000
        #expect(difference.microseconds == first)
        clocks.pause = 1
        #expect(difference.microseconds == first)
    }

    @Test func differenceFollowsAClockThatWasSet() {
        let clocks = Clocks()
        let difference = ClockDifference(read: clocks.read)
        let first = difference.microseconds
        clocks.ahead -= 50_000
        #expect(difference.microseconds == first - 50_000)
    }

    @Test func eventASecondEarlierHasADateASecondEarlier() {
        let dates = ClockDifference(read: Clocks().read)
        let date = dates.date(of: Instant(microseconds: 1_000_000))
        #expect(dates.date(of: Instant(microseconds: 0)) == date - 1_000_000)
    }

    @Test(arguments: [UInt64(Int64.max) - 1, UInt64(Int64.max), .max])
    func instantBeyondAllDatesHasTheLastDate(microseconds: UInt64) {
        #expect(ClockDifference().date(of: Instant(microseconds: microseconds)) == .max)
    }
}
