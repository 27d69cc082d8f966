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

    @Test func minimumIsWatchedWithoutAReserve() throws {
        let loop = try EventLoop()
        var available: [UInt64] = [200 << 20, 80 << 20, 600 << 20]
        var told: [UInt64?] = []
        var thresholds = MemoryThresholds()
        thresholds.minimumAvailable = 100 << 20
        let watch = try ReserveWatch(loop: loop) { [thresholds] in
            guard !available.isEmpty else { return nil }
            let reading = Self.reading(available: available.removeFirst())
            if available.isEmpty { loop.exit(code: 0) }
            return MemoryPressure(since: reading, reading: reading, thresholds: thresholds)
        } handler: {
            told.append($0.reading.available)
        }
        let limit = try loop.timer { loop.exit(code: 1) }
        limit.arm(atMicroseconds: loop.freshNow + 20_000_000)
        watch.minimumAvailable = 100 << 20
        watch.begin()
        #expect(try loop.runGuarded() == 0)
        #expect(told == [80 << 20])
    }

    @Test func shortageIsReportedUntilItEnds() throws {
        let loop = try EventLoop()
        var available: [UInt64] = [200 << 20, 80 << 20, 70 << 20, 600 << 20]
        var told: [UInt64?] = []
        let watch = try ReserveWatch(loop: loop) {
            guard !available.isEmpty else { return nil }
            let reading = Self.reading(available: available.removeFirst())
            if available.isEmpty { loop.exit(code: 0) }
            return MemoryPressure(since: reading, reading: reading, thresholds: Self.thresholds)
        } handler: {
            told.append($0.reading.available)
        }
        let limit = try loop.timer { loop.exit(code: 1) }
        limit.arm(atMicroseconds: loop.freshNow + 20_000_000)
        watch.begin()
        #expect(available.count == 4)
        watch.reserve = 0.08
        watch.begin()
        #expect(try loop.runGuarded() == 0)
        #expect(told == [80 << 20, 70 << 20])
    }
}
