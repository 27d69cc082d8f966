import Configuration
import Processes

@testable import LifecycleCore
@testable import LifecycleDaemon

extension FuzzTarget {
    /// Texts that apps and users choose, through a state file and back: the first byte says as what.
    static let stateRoundTrip = FuzzTarget("state-round-trip", takesList: true) { bytes in
        var input = FuzzInput(bytes)
        let kind = input.number(below: 8)
        let since = Instant(microseconds: UInt64(input.number(below: 256)))
        let texts = (0..<4).map { _ in input.text() }
        switch kind {
        case 0: checkAssertion(Assertion(kind: .task, number: 7, name: texts[0], since: since))
        case 1: checkEvent(.openURL(texts[0], type: optional(texts[1]), source: optional(texts[2])))
        case 2: checkEvent(.continueActivity(type: texts[1], info: texts[0]))
        case 3: checkEvent(.performTask(kind: texts[1], payload: texts[0]))
        case 4: checkExit(reason: Reason.allCases[input.number(below: Reason.allCases.count)], since)
        case 5: checkScene(texts, since)
        default: checkDefinition(texts, AppID("app"))
        }
    }

    private static func optional(_ text: String) -> String? { text.isEmpty ? nil : text }

    /// Returns the value that a record has for this one.
    private static func again<Item: SavedItem>(_ item: Item) -> Item? {
        var writer = SavedCoder()
        _ = writer.item("item", item)
        var reader = SavedCoder(reading: writer.record)
        return reader.item("item", nil)
    }

    /// Returns the text that a line of the log has for this one.
    private static func written(_ value: String) -> String {
        let line = StateLine(StateName(.session), SavedRecord(["value": value]))
        return StateLine(line.bytes.dropLast())?.record?["value"] ?? "no line"
    }

    private static func checkAssertion(_ assertion: Assertion) {
        require(again(assertion) == assertion, "an assertion is found again: \(assertion)")
    }

    private static func checkEvent(_ event: AppEvent) {
        let queued = QueuedEvent(number: 3, event: event)
        let again = again(queued)
        require(again?.number == 3 && again?.event == event, "an event is found again: \(event)")
    }

    private static func checkExit(reason: Reason, _ instant: Instant) {
        let exit = ExitRecord(state: .active, reason: reason, status: .signal(9), instant: instant)
        require(ExitRecord(text: written(exit.text)) == exit, "an exit is found again: \(exit)")
    }

    private static func checkScene(_ texts: [String], _ instant: Instant) {
        guard let id = SceneID(texts[1]), SceneID.isWord(texts[2]) else { return }
        var scene = Scene(id: id, role: texts[2], info: optional(texts[0]), origin: .app, since: instant)
        scene.isWanted = true
        let again = again(scene)
        require(again == scene, "a scene is found again: \(scene)")
    }

    private static func checkDefinition(_ texts: [String], _ id: AppID) {
        var definition = AppDefinition(adHoc: ["true"] + texts, user: .numbered(1000), defaults: Policy())
        definition.environment = ["NAME": texts[1], "OTHER": texts[2]]
        definition.workingDirectory = "/\(texts[3].prefix(64))"
        let line = StateLine(StateName(.definition, id), definition.saved(id))
        let record = SavedState(StateLine.read(line.bytes[...]))[.definition, id]
        let again = record.flatMap { AppDefinition(saved: $0, defaults: Policy()) }
        require(again?.command == definition.command && again?.user == definition.user, "a command is found again")
        require(again?.environment == definition.environment, "an environment is found again: \(texts)")
        require(again?.workingDirectory == definition.workingDirectory, "a directory is found again")
    }
}
