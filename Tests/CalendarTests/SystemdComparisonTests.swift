import Glibc
import TestSupport
import Testing

@testable import Calendar

/// Holds the events against systemd's own reading of them, where its `systemd-analyze` is at hand.
@Suite(.enabled(if: SystemdAnalyze.isPresent, "there is no systemd-analyze")) struct SystemdComparisonTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func theSameTimesFollow(seed: UInt64) throws {
        var texts = RandomCalendarEvents(seed: seed)
        let start = "2023-12-30 22:58:59"
        for _ in 0..<60 {
            let text = texts.next()
            let theirs = try SystemdAnalyze.iterations(of: text, after: start, count: 6)
            #expect(ours(text, after: start, count: 6) == theirs, "seed \(seed): \(text)")
        }
    }

    /// What we would say in their place: nil for an error.
    private func ours(_ text: String, after start: String, count: Int) -> [String]? {
        guard let event = try? CalendarEvent(text) else { return nil }
        var instant = UTCText.timestamp(start)
        var found: [String] = []
        while found.count < count, let next = event.next(after: instant, in: UTC()) {
            found.append(String(UTCText.text(next).dropLast(".000000".count)))
            instant = next
        }
        return found
    }
}

private enum SystemdAnalyze {
    static let isPresent = unsafe access("/usr/bin/systemd-analyze", X_OK) == 0

    struct Failed: Error {}

    /// The times that it tells, in whole seconds of UTC; nil where it does not accept the text.
    static func iterations(of text: String, after start: String, count: Int) throws -> [String]? {
        let command =
            "TZ=UTC LC_ALL=C systemd-analyze calendar --iterations=\(count) --base-time='\(start)' '\(text)' 2>&1"
        guard let pipe = unsafe popen(command, "r") else { throw Failed() }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let read = unsafe fread(&chunk, 1, chunk.count, pipe)
            guard read > 0 else { break }
            output += chunk[..<read]
        }
        guard unsafe pclose(pipe) == 0 else { return nil }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").compactMap(time)
    }

    /// The time in `Next elapse: Mon 2024-01-01 00:00:00 UTC` or `Iter. #2: …`, since systemd 253 `Iteration #2: …`.
    private static func time(in line: Substring) -> String? {
        let words = line.split(separator: " ")
        let isTime = ["Next elapse:", "Iter. #", "Iteration #"].contains { line.contains($0) }
        guard isTime, words.last == "UTC", words.count > 4 else { return nil }
        return words[(words.count - 3)..<(words.count - 1)].joined(separator: " ")
    }
}

/// Events of every form, and some that are none.
private struct RandomCalendarEvents {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func next() -> String {
        if chance(10) {
            return (["minutely", "hourly", "daily", "weekly", "monthly", "yearly"] + shorthands).randomElement(
                using: &random) ?? ""
        }
        var parts: [String] = []
        if chance(40) { parts.append(weekdays()) }
        if chance(60) { parts.append(date()) }
        if chance(70) || parts.isEmpty { parts.append(time()) }
        return parts.joined(separator: " ")
    }

    private let shorthands = ["quarterly", "semiannually", "Monthly", "YEARLY", "bi-annually", "fortnightly"]

    private mutating func weekdays() -> String {
        let names = ["Mon", "tue", "Wednesday", "THU", "friday", "Sat", "sunday"]
        return (0...Int.random(in: 0...2, using: &random)).map { _ in
            let first = names.randomElement(using: &random) ?? ""
            return chance(30) ? "\(first)..\(names.randomElement(using: &random) ?? "")" : first
        }.joined(separator: ",")
    }

    private mutating func date() -> String {
        // Version 252 accepts fewer days from the end in a list than alone: 25 in the second place.
        let separator = chance(25) ? "~" : "-"
        let monthAndDay = "\(values(1...12))\(separator)\(values(separator == "~" ? 1...25 : 1...32))"
        return chance(40) ? "\(chance(70) ? "*" : values(2022...2030))-\(monthAndDay)" : monthAndDay
    }

    private mutating func time() -> String {
        let hourAndMinute = "\(values(0...24)):\(values(0...60))"
        return chance(40) ? "\(hourAndMinute):\(values(0...60))" : hourAndMinute
    }

    private mutating func values(_ range: ClosedRange<Int>) -> String {
        if chance(25) { return "*" }
        return (0...Int.random(in: 0...2, using: &random) / 2).map { _ in element(range) }.joined(separator: ",")
    }

    private mutating func element(_ range: ClosedRange<Int>) -> String {
        let (first, second) = (Int.random(in: range, using: &random), Int.random(in: range, using: &random))
        let text = chance(25) ? "\(min(first, second))..\(max(first, second))" : "\(first)"
        return chance(25) ? "\(text)/\(Int.random(in: 1...7, using: &random))" : text
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }
}
