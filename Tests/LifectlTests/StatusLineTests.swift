import ControlAPI
import LifecycleTypes
import Testing
import Varlink

@testable import lifectl

@Suite struct StatusLineTests {
    private func line(_ apps: [(String, String?, AppState)]) -> StatusLine {
        var line = StatusLine()
        let apps = apps.map { id, name, state in
            APIApp(
                id: id, name: name, state: state, target: state, foreground: state == .active, connected: false,
                adHoc: false, sinceUSec: 0, stoppedByOther: false)
        }
        line.apply(MonitorReply(number: 0, apps: apps)) { _ in nil }
        return line
    }

    private func move(_ line: inout StatusLine, _ id: String, to state: AppState, name: String? = nil) {
        let change = APITransition(id: id, from: .inactive, to: state, reason: .focus, timeUSec: 0)
        line.apply(MonitorReply(number: 1, transition: change)) { $0 == id ? name : nil }
    }

    @Test func lineNamesForegroundAppsAndCountsOthers() {
        var line = line([
            ("a", "Mail", .active), ("b", nil, .suspended), ("c", nil, .suspended), ("d", nil, .notRunning),
        ])
        #expect(line.output(.text) == "Mail  2 suspended\n")
        move(&line, "a", to: .background)
        #expect(line.output(.text) == "no foreground app  1 in the background  2 suspended\n")
        move(&line, "a", to: .notRunning)
        move(&line, "b", to: .inactive)
        move(&line, "e", to: .terminating)
        #expect(line.output(.text) == "b  1 suspended  1 ending\n")
    }

    @Test func appThatIsLaunchedAgainHasItsName() {
        var line = line([("a", "Mail", .active)])
        move(&line, "a", to: .notRunning)
        move(&line, "a", to: .inactive, name: "Mail")
        move(&line, "a", to: .active)
        #expect(line.output(.text) == "Mail\n")
    }

    @Test func waybarGetsMarkupWithoutTheAppsOwn() throws {
        let line = line([("a", "<b>&\u{1b}[1m\"", .active), ("b", "Maps", .suspended)])
        let value = try #require(JSON.decode(JSONValue.self, from: Array(line.output(.waybar).utf8)))
        #expect(value["class"]?.string == "active")
        #expect(value["alt"]?.string == "active")
        #expect(value["text"]?.string == "&lt;b&gt;&amp;\\u{1b}[1m&quot;  1 suspended")
        #expect(value["tooltip"]?.string == "&lt;b&gt;&amp;\\u{1b}[1m&quot;: active\nMaps: suspended")
    }
}
