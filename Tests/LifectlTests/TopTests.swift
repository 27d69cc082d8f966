import ControlAPI
import LifecycleTypes
import Testing

@testable import lifectl

@Suite struct TopTests {
    private let plain = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: 66_000_000)

    private func row(_ id: String, _ state: AppState, time: Int64? = nil, until: Int64? = nil) -> TopRow {
        let app = APIApp(
            id: id, name: nil, state: state, target: state, reason: .focus, foreground: false, connected: false,
            adHoc: false, pid: 1, sinceUSec: 60_000_000, stoppedByOther: false)
        return TopRow(
            app: app, cpuTimeUSec: time, memoryBytes: 3 << 20,
            conditions: until.map { [APIStateCondition(kind: .backgroundTime, names: [], untilUSec: $0)] } ?? [],
            prospects: [])
    }

    @Test func deadlinesCountDown() {
        let sample = TopSample(timeUSec: 0, rows: [row("a", .active), row("b", .background, until: 68_500_000)])
        let lines = plain.top(sample, rows: 0..<9, selected: 1).split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("   a   active      6.0 s") && lines[1].contains("3 MiB"))
        #expect(lines[2].hasPrefix(">  b   background") && lines[2].contains("2.5 s  background time"))
    }

    @Test func loadIsTheShareSinceTheSampleBefore() {
        let before = TopSample(timeUSec: 0, rows: [row("a", .active, time: 100), row("b", .active, time: 900)])
        var sample = TopSample(
            timeUSec: 1_000_000,
            rows: [row("a", .active, time: 250_100), row("b", .active, time: 5), row("c", .active, time: 7)])
        sample.computeLoads(since: before)
        #expect(sample.rows.map(\.load) == [2500, nil, nil])
        #expect(TextPresentation.percent(2500) == "25.0 %")
    }

    @Test func aLineIsCutWithoutItsColours() {
        #expect(TextPresentation.cut("\u{1b}[32mabc\u{1b}[0mdef", to: 4) == "\u{1b}[32mabc\u{1b}[0md")
        #expect(TextPresentation.cut("ab", to: 4) == "ab")
    }

    @Test func keysAreTold() {
        #expect(TopScreen.keys([0x1b, 0x5b, 0x41]) == [.up])
        #expect(TopScreen.keys("js\u{1b}OBk".utf8) == [.down, .character("s"), .down, .up])
        #expect(TopScreen.keys([0x03]) == [.quit])
        // A key that is none of these, and a sequence that is cut off.
        #expect(
            TopScreen.keys([0x1b, 0x5b, 0x43]).isEmpty && TopScreen.keys([0x1b]).isEmpty
                && TopScreen.keys([0x1b, 0x5b]).isEmpty)
    }

    @Test func aKeyChoosesAnAppAndKeepsToItsName() throws {
        var view = TopView(CallOptions())
        view.sample = TopSample(timeUSec: 0, rows: [row("a", .active), row("b", .background)])
        #expect(view.picture(10).contains(">  a"))
        #expect(view.handle(.down) && view.picture(10).contains(">  b"))
        view.sample = TopSample(timeUSec: 0, rows: [row("b", .active), row("c", .background), row("a", .background)])
        #expect(view.picture(10).contains(">  b"))
        #expect(view.handle(.down) && view.handle(.down) && view.handle(.down))
        #expect(view.picture(1).contains(">  a") && !view.picture(1).contains("  b  "))
        let goesOn = view.handle(.quit)
        #expect(!goesOn)
    }
}
