import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct ReserveWatchTests {
    private static func reading(available: UInt64, swap: UInt64 = 0) -> MemoryReading {
        var reading = MemoryReading(instant: 0, pressure: "", meminfo: nil)
        reading.available = available
        reading.freeSwap = swap
        reading.total = 1 << 30
        return reading
    }

    private static var thresholds: MemoryThresholds {
        var thresholds = MemoryThresholds()
        thresholds.reserve = 0.08
        return thresholds
    }

    @Test func nextReadingComesBeforeTheFastestAppReachesTheReserve() {
        let reserve = UInt64(0.08 * Double(1 << 30))
        func pause(available: UInt64, swap: UInt64 = 0) -> UInt64 {
            ReserveWatch.pause(
                Self.reading(available: available, swap: swap), reserve: 0.08, minimumAvailable: 0)
        }
        #expect(pause(available: 0) == ReserveWatch.shortestPause)
        #expect(pause(available: reserve + 1024 * 70_000) / 100 == 699)
        #expect(pause(available: reserve, swap: 1024 * 70_000) / 100 == 699)
    }

    @Test func nearerThresholdDecidesWhenTheNextReadingComes() {
        func pause(available: UInt64, swap: UInt64 = 0, reserve: Double) -> UInt64 {
            ReserveWatch.pause(
                Self.reading(available: available, swap: swap), reserve: reserve, minimumAvailable: 400 << 20)
        }
        let minimum: UInt64 = 400 << 20
        #expect(pause(available: minimum + 1024 * 70_000, swap: 1 << 30, reserve: 0) == 70_000)
        #expect(pause(available: minimum + 1024 * 70_000, reserve: 0.08) == 70_000)
        #expect(pause(available: (1 << 29) + 1024 * 70_000, reserve: 0.5) == 70_000)
        #expect(pause(available: minimum - 1, swap: 1 << 30, reserve: 0) == ReserveWatch.shortestPause)
    }

    /// Runs the watch with readings of these sizes, and returns those that it reports.
    private func reports(
        of watch: ReserveWatch, _ events: Events, _ readings: [UInt64], _ thresholds: MemoryThresholds
    ) throws -> [UInt64?] {
        var available = readings
        var told: [UInt64?] = []
        watch.begin()
        let code = try events.runGuarded { _ in
            let pressure = watch.check {
                let reading = Self.reading(available: available.removeFirst())
                return MemoryPressure(since: reading, reading: reading, thresholds: thresholds)
            }
            if let pressure { told.append(pressure.reading.available) }
            if available.isEmpty { events.loop.exit(code: 0) }
        }
        #expect(code == 0)
        return told
    }

    @Test func minimumIsWatchedWithoutAReserve() throws {
        let events = try Events()
        var thresholds = MemoryThresholds()
        thresholds.minimumAvailable = 100 << 20
        let watch = try ReserveWatch(events: events)
        watch.minimumAvailable = 100 << 20
        #expect(try reports(of: watch, events, [200 << 20, 80 << 20, 600 << 20], thresholds) == [80 << 20])
    }

    @Test func shortageIsReportedUntilItEnds() throws {
        let events = try Events()
        let watch = try ReserveWatch(events: events)
        #expect(
            watch.check {
                Issue.record("nothing is reserved"); return nil
            } == nil)
        watch.reserve = 0.08
        let readings: [UInt64] = [200 << 20, 80 << 20, 70 << 20, 600 << 20]
        #expect(try reports(of: watch, events, readings, Self.thresholds) == [80 << 20, 70 << 20])
    }
}
