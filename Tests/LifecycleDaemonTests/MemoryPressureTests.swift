import Configuration
import Glibc
import LifecycleCore
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct MemoryPressureTests {
    private let quiet =
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"

    @Test func triggerIsTheShareOfTheWindow() {
        var settings = DaemonSettings.Memory()
        settings.warning = 10
        settings.critical = 25
        settings.window = .seconds(2)
        settings.minimumAvailable = 4096
        let thresholds = MemoryThresholds(settings)
        #expect(thresholds.warning.trigger == "some 200000 2000000")
        #expect(thresholds.critical.trigger == "full 500000 2000000")
        #expect(thresholds.minimumAvailable == 4096)
    }

    @Test func pressureFileAndMeminfoAreRead() {
        let reading = MemoryReading(
            instant: 7,
            pressure: "some avg10=2.43 avg60=0.45 avg300=0.09 total=481753\nfull avg10=1.74 avg60=0.32 total=348862\n",
            meminfo: "MemTotal:       24683520 kB\nMemFree: 1 kB\nMemAvailable:   24214528 kB\n")
        #expect(reading.some == .init(average10: 243, total: .microseconds(481_753)))
        #expect(reading.full == .init(average10: 174, total: .microseconds(348_862)))
        #expect(reading.available == 24_214_528 * 1024)
        #expect(reading.total == 24_683_520 * 1024)
    }

    @Test(arguments: [
        "", "some", "some avg10= total=", "some avg10=x total=1", "full avg10=1.0", "=\n= =",
        "some total=99999999999999999999",
    ])
    func malformedPressureFileIsNoPressure(text: String) {
        let reading = MemoryReading(instant: 0, pressure: text, meminfo: "MemAvailable: many kB\nMemAvailable")
        #expect(reading == MemoryReading(instant: 0))
    }

    @Test(arguments: [
        (1_000, 150, 2_000, 300), (2_000, 150, 2_000, 150), (3_000, 300, 4_000, 400), (500, 50, 2_000, 200),
        (10_000, 1_000, 10_000, 1_000), (60_000, 6_000, 10_000, 1_000),
    ])
    func windowForEverybodyHasTheSameShare(window: Int, stall: Int, newWindow: Int, newStall: Int) {
        let trigger = MemoryThresholds.Stall(kind: .some, stall: .milliseconds(stall), interval: .milliseconds(window))
        #expect(trigger.forEverybody.trigger == "some \(newStall)000 \(newWindow)000")
    }

    @Test func levelIsTheShareOfTheTimeSinceTheEarlierReading() {
        var thresholds = MemoryThresholds()
        thresholds.minimumAvailable = 1000
        func level(some: Int, full: Int, after milliseconds: UInt64, available: UInt64? = 5000) -> MemoryLevel {
            var later = MemoryReading(instant: 1_000_000 + milliseconds * 1000, available: available)
            later.some.total = .milliseconds(some)
            later.full.total = .milliseconds(full)
            return MemoryPressure(since: MemoryReading(instant: 1_000_000), reading: later, thresholds: thresholds)
                .level
        }
        #expect(level(some: 0, full: 0, after: 1000) == .normal)
        #expect(level(some: 149, full: 0, after: 1000) == .normal)
        #expect(level(some: 150, full: 0, after: 1000) == .warning)
        #expect(level(some: 150, full: 100, after: 1000) == .critical)
        #expect(level(some: 150, full: 100, after: 10_000) == .normal)
        #expect(level(some: 50, full: 50, after: 200) == .critical)
        #expect(level(some: 50, full: 50, after: 50) == .normal, "a moment tells nothing")
        #expect(level(some: 0, full: 0, after: 0, available: 999) == .critical)
        #expect(level(some: 0, full: 0, after: 0, available: nil) == .normal)
    }

    /// A virtual machine that stands still has such waiting, with 22 of 23 GiB available.
    @Test func noWaitingIsCriticalWithPlentyOfMemory() {
        var thresholds = MemoryThresholds(DaemonSettings.Memory())
        func level(available: UInt64?, total: UInt64? = 1 << 30) -> [MemoryLevel] {
            var later = MemoryReading(instant: 2_000_000, available: available, total: total)
            later.some.total = .seconds(1)
            later.full.total = .seconds(1)
            let pressure = MemoryPressure(
                since: MemoryReading(instant: 1_000_000), reading: later, thresholds: thresholds)
            return [pressure.level] + [.warning, .critical].map { pressure.level(toldOf: $0, thresholds) }
        }
        #expect(level(available: 600 << 20) == [.warning, .warning, .warning])
        #expect(level(available: 500 << 20) == [.critical, .warning, .critical])
        #expect(level(available: nil) == [.critical, .warning, .critical])
        #expect(level(available: 600 << 20, total: nil) == [.critical, .warning, .critical])
        thresholds.minimumAvailable = 700 << 20
        #expect(level(available: 600 << 20) == [.critical, .critical, .critical])
    }

    @Test func anyWaitingIsCriticalBelowTheReserve() {
        let thresholds = MemoryThresholds(DaemonSettings.Memory())
        func level(available: UInt64?, swap: UInt64?) -> MemoryLevel {
            let reading = MemoryReading(instant: 2_000_000, available: available, total: 1000 << 20, freeSwap: swap)
            return MemoryPressure(since: MemoryReading(instant: 1_000_000), reading: reading, thresholds: thresholds)
                .level(toldOf: .normal, thresholds)
        }
        #expect(level(available: 79 << 20, swap: 0) == .critical)
        #expect(level(available: 79 << 20, swap: nil) == .critical)
        #expect(level(available: 80 << 20, swap: 0) == .normal)
        #expect(level(available: 70 << 20, swap: 10 << 20) == .normal, "what can be swapped out is no shortage")
        #expect(level(available: nil, swap: nil) == .normal)
    }

    @Test func countersThatBeginAnewAreNoPressure() {
        var earlier = MemoryReading(instant: 5_000_000)
        earlier.some.total = .seconds(100)
        let pressure = MemoryPressure(
            since: earlier, reading: MemoryReading(instant: 1_000_000), thresholds: MemoryThresholds())
        #expect(pressure.level == .normal)
        #expect(pressure.some == .zero && pressure.elapsed == .zero)
    }

    @Test func errorNamesTheReasonWithoutPressureStallInformation() throws {
        let error = #expect(throws: DaemonError.self) {
            _ = try MemoryPressureSource(events: Events(), file: "/proc/no-such-file")
        }
        #expect(
            error?.description.contains("/proc/no-such-file: this kernel has no pressure stall information") == true)
    }

    @Test(.enabled(if: hasPressure, "this kernel has no pressure stall information"))
    func pressureOfTheMachineCanBeReadAndWatchedWithAnyWindow() throws {
        let events = try Events()
        var thresholds = MemoryThresholds()
        thresholds.warning.interval = .milliseconds(700)
        let source = try MemoryPressureSource(events: events, thresholds: thresholds)
        let pressure = try #require(source.current())
        #expect(try #require(pressure.reading.available) > 0)
        #expect(pressure.shortage.available == pressure.reading.available)
        thresholds.minimumAvailable = .max
        let strict = try MemoryPressureSource(events: events, thresholds: thresholds)
        #expect(strict.current()?.level == .critical)
    }

    /// The kernel reports the removed cgroup again and again.
    @Test(.enabled(if: cgroupRoot != nil, "there is no cgroup v2 hierarchy with pressure files that is writable"))
    func removedCgroupEndsItsWatchOnce() throws {
        let group = try #require(cgroupRoot) + "/lifed-pressure-\(getpid())"
        try #require(unsafe mkdir(group, 0o755) == 0)
        defer { _ = unsafe rmdir(group) }
        let events = try Events()
        var ends: [String] = []
        let last = try events.loop.later { events.loop.exit(code: 0) }
        last.setPriority(.idle)
        let source = try MemoryPressureSource(events: events, file: group + "/memory.pressure")
        try #require(unsafe rmdir(group) == 0)
        let code = try events.runGuarded { event in
            guard case .memoryPressure(let level, let ready) = event,
                case .ended(let reason)? = source.event(level, ready)
            else {
                Issue.record("an empty cgroup waits for nothing")
                return
            }
            ends.append(reason)
            last.schedule()
        }
        #expect(code == 0)
        #expect(ends == ["\(group)/memory.pressure reports no more"])
        #expect(source.current() == nil)
    }

    /// The kernel reports when a descriptor or memory for the reading may be missing.
    @Test(.enabled(if: cgroupRoot != nil, "there is no cgroup v2 hierarchy with pressure files that is writable"))
    func reportCountsAloneIfFileCannotBeRead() throws {
        let group = try #require(cgroupRoot) + "/lifed-pressure-unread-\(getpid())"
        try #require(unsafe mkdir(group, 0o755) == 0)
        let source = try MemoryPressureSource(events: Events(), file: group + "/memory.pressure")
        try #require(unsafe rmdir(group) == 0)
        for level in [MemoryLevel.normal, .warning, .critical] {
            guard case .pressure(let pressure)? = source.event(level, .exceptional), pressure.level == level else {
                Issue.record("\(level)")
                return
            }
        }
    }

    /// A round of reclaims ends then, instead of waiting for pressure that nobody reports.
    @Test func memoryThatCannotBeReadIsNotShort() throws {
        let core = try CoreDriver.knowing(in: Events())
        let watch = try MemoryWatch(core: core, log: RecordingJournal())
        watch.mark()
        watch.read()
        guard case .memory(let shortage)? = core.inbox.first, shortage == MemoryShortage(.normal),
            core.inbox.count == 1
        else {
            Issue.record("\(core.inbox)")
            return
        }
    }

    @Test(.enabled(if: hasPressure, "this kernel has no pressure stall information"))
    func settingsThatCouldNotBeWatchedAreTriedAgain() throws {
        let journal = RecordingJournal()
        let watch = try MemoryWatch(core: .knowing(in: Events()), log: journal)
        watch.file = "/nowhere/memory.pressure"
        for count in 1...2 {
            watch.apply(DaemonSettings.Memory())
            #expect(!watch.isWatching && journal.entries.count == count)
        }
        watch.file = MemoryPressureSource.machine
        watch.apply(DaemonSettings.Memory())
        #expect(watch.isWatching && journal.entries.count == 2)
    }

    @Test(.enabled(if: hasPressure, "this kernel has no pressure stall information"))
    func watchThatHasNoDescriptorBeginsLater() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                let events = try Events()
                let core = try CoreDriver.knowing(in: events)
                let journal = RecordingJournal()
                let watch = try MemoryWatch(core: core, log: journal)
                watch.retryDelay = 1_000
                withoutDescriptors { watch.apply(DaemonSettings.Memory()) }
                #expect(!watch.isWatching)
                let code = try events.runGuarded { event in
                    if case .memoryRetryDue = event { watch.tryAgain() }
                    if watch.isWatching { events.loop.exit(code: 0) }
                }
                #expect(code == 0)
                #expect(journal.entries.map(\.priority) == [.warning, .info])
            }
        }
    }
}

/// Calls a closure in which the process can open no file.
private func withoutDescriptors(_ body: () -> Void) {
    var limit = rlimit()
    #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    var none = limit
    none.rlim_cur = 0
    #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
    body()
    #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
}

private nonisolated let hasPressure = unsafe access(MemoryPressureSource.machine, R_OK | W_OK) == 0

private nonisolated let cgroupRoot = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].first { path in
    unsafe access(path + "/memory.pressure", R_OK) == 0 && access(path, W_OK) == 0
}
