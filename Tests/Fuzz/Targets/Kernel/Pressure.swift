@testable import LifecycleDaemon

extension FuzzTarget {
    /// A pressure file and `/proc/meminfo`, with a zero byte in between.
    static let pressure = FuzzTarget("pressure", takesList: true) { bytes in
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        guard let pressure = texts.first else { return }
        let reading = MemoryReading(instant: 1, pressure: pressure, meminfo: texts.count > 1 ? texts[1] : nil)
        require(reading.instant == 1, "a reading is of its instant")
        let later = MemoryReading(instant: 1_000_001, pressure: pressure, meminfo: nil)
        require(later.some.total == reading.some.total, "the same text says the same")
    }
}
