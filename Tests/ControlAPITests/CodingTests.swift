import LifecycleTypes
import Testing
import Varlink

@testable import ControlAPI

/// The generated readers and writers.
@Suite struct CodingTests {
    @Test func valuesAreReadAsTheyWereWritten() throws {
        try expectRoundTrip(Samples.explanation)
        try expectRoundTrip(Samples.historyEvent)
        try expectRoundTrip(Samples.availableApp)
        try expectRoundTrip(Samples.status)
        try expectRoundTrip(Samples.run)
        try expectRoundTrip(
            MonitorReply(
                number: 1, apps: [Samples.app], transition: Samples.transition, scene: Samples.sceneTransition))
        try expectRoundTrip(MetricsListReply(name: "a", value: .string("b"), object: "c", fields: nil))
    }

    private func expectRoundTrip<Value: JSONReadable & JSONWritable & Equatable>(_ value: Value) throws {
        #expect(try Value(json: JSONValue(parsing: text(value))) == value)
    }

    @Test func everyWordOfEachEnumerationIsReadAsItWasWritten() throws {
        try expectWords(AppState.self)
        try expectWords(SceneState.self)
        try expectWords(Reason.self)
        try expectWords(MachineEvent.self)
        try expectWords(EventOutcome.self)
        try expectWords(ForegroundBlocker.self)
        try expectWords(APIStateConditionKind.self)
    }

    private func expectWords<Value: JSONWord & Equatable>(_ type: Value.Type) throws {
        for value in Value.allCases {
            #expect(try Value(json: JSONValue(parsing: text(value))) == value)
            #expect(value.word.utf8.allSatisfy { $0 != UInt8(ascii: "-") }, "Varlink's words have no hyphens")
        }
    }

    @Test func membersOfRepliesAreAlwaysWrittenAndMayBeMissing() throws {
        let problem = APIProblem(file: "a.toml", message: "no")
        #expect(text(problem) == #"{"file":"a.toml","line":null,"message":"no"}"#)
        let shorter = try JSONValue(parsing: #"{"file":"a.toml","future":[{}],"message":"no"}"#)
        #expect(try APIProblem(json: shorter) == problem)
    }

    @Test func parametersWithoutValueAreLeftOut() {
        #expect(text(FocusParameters(id: "a")) == #"{"id":"a"}"#)
    }

    @Test(arguments: [
        (#"{"id":"a","wiat":"active"}"#, "wiat"), (#"{"id":"a","wait":"never"}"#, "wait"), ("{}", "id"),
        (#"{"id":null}"#, "id"), (#"{"id":1}"#, "id"),
    ])
    func parametersThatAreNotValidAreNamed(_ text: String, _ name: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: JSONError.self) { try FocusParameters(json: json) }
        #expect(error?.path == name)
    }

    private func text(_ value: some JSONWritable) -> String {
        String(decoding: value.json.bytes, as: UTF8.self)
    }
}
