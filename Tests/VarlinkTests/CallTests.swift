import TestSupport
import Testing

@testable import Varlink

private struct Sample: JSONReadable, Equatable {
    struct Inner: JSONReadable, Equatable {
        let words: [String]

        init(json: JSONValue) throws(JSONError) {
            try json.refuseFields(otherThan: ["words"])
            words = try json.read("words")
        }
    }

    let number: Int64
    let inner: Inner?

    init(number: Int64) {
        self.number = number
        inner = nil
    }

    init(json: JSONValue) throws(JSONError) {
        try json.refuseFields(otherThan: ["number", "inner"])
        number = try json.read("number")
        inner = try json.readIfPresent("inner")
    }
}

@Suite struct CallTests {
    private func call(_ text: String) throws -> Call {
        var connection = connection()
        connection.receive(message(text))
        return try #require(try connection.nextCall())
    }

    private func invalid(_ parameters: String) throws -> ServiceError? {
        let call = try call(#"{"method":"a.B","parameters":\#(parameters)}"#)
        do throws(ServiceError) {
            _ = try call.parameters(as: Sample.self)
            return nil
        } catch {
            return error
        }
    }

    @Test func membersAreRead() throws {
        let call = try call(#"{"method":"org.example.Do","more":true,"parameters":{"number":3}}"#)
        #expect(call.method == "org.example.Do")
        #expect(call.interface == "org.example")
        #expect(call.methodName == "Do")
        #expect(call.wantsMore)
        #expect(!call.isOneway)
        #expect(try call.parameters() == Sample(number: 3))
    }

    @Test(arguments: [
        #"{"method":"a.B"}"#, #"{"method":"a.B","parameters":null}"#, #"{"method":"a.B","parameters":{}}"#,
    ])
    func absentParametersAreAnEmptyObject(_ text: String) throws {
        let call = try call(text)
        #expect(try call.parameters() == NoParameters())
        #expect(throws: ServiceError.invalidParameter("number")) { try call.parameters(as: Sample.self) }
    }

    @Test(arguments: [
        (#"{"number":"3"}"#, "number"),
        (#"{"number":null}"#, "number"),
        (#"{"number":99999999999999999999}"#, "number"),
        (#"{"number":1.5}"#, "number"),
        (#"{"number":1,"inner":{}}"#, "inner.words"),
        (#"{"number":1,"inner":{"words":["a",7]}}"#, "inner.words[1]"),
        (#"{"number":1,"nubmer":2}"#, "nubmer"),
        (#"{"number":1,"unknown":2,"number2":"3"}"#, "unknown"),
        (#"{"number":1,"inner":{"words":[],"a\u00e9":2}}"#, "inner.aé"),
    ])
    func invalidParameterIsNamed(_ parameters: String, _ name: String) throws {
        #expect(try invalid(parameters) == .invalidParameter(name))
    }
}

@Suite struct HostileMessageTests {
    @Test(arguments: [
        "", "x", "[]", "3", "null", #""text""#, "{", #"{"method":1}"#, "{}", #"{"method":"a.B"}{}"#,
        #"{"method":"a.B","parameters":[]}"#, #"{"method":"a.B","parameters":3}"#, #"{"method":"a.B","more":1}"#,
        #"{"method":"a.B","oneway":"true"}"#, #"{"method":"a.B","method":"a.C"}"#,
        #"{"method":"a.B","parameters":{"a":1,"\u0061":2}}"#, #"{"method":"\ud800"}"#, "\u{feff}{\"method\":\"a.B\"}",
    ])
    func textThatIsNoCallIsMalformed(_ text: String) {
        #expect(violation(message(text)) == .malformed)
    }

    @Test func invalidUTF8IsMalformed() {
        let bytes = Array(#"{"method":"a."#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8) + [0]
        #expect(violation(bytes) == .malformed)
    }

    @Test(arguments: [
        #"{"method":"a.B","more":true,"oneway":true}"#, #"{"method":"a.B","more":true,"upgrade":true}"#,
        #"{"method":"a.B","upgrade":true,"oneway":true}"#,
    ])
    func flagsExcludeOneAnother(_ text: String) {
        #expect(violation(message(text)) == .conflictingFlags)
    }

    @Test func nestingIsLimitedExactly() {
        func nested(_ depth: Int) -> [UInt8] {
            // The message and its parameters are two levels.
            let open = String(repeating: "[", count: depth - 2)
            let close = String(repeating: "]", count: depth - 2)
            return message(#"{"method":"a.B","parameters":{"x":\#(open)\#(close)}}"#)
        }
        #expect(violation(nested(64)) == nil)
        #expect(violation(nested(65)) == .nestedTooDeeply(limit: 64))
        #expect(violation(nested(10_000)) == .nestedTooDeeply(limit: 64))
        #expect(violation(message(String(repeating: "[", count: 10_000))) == .nestedTooDeeply(limit: 64))
    }

    @Test func bracketsInStringsDoNotNest() {
        let text = String(repeating: #"[{\""#, count: 1000)
        #expect(violation(message(#"{"method":"a.B","parameters":{"x":"\#(text)"}}"#)) == nil)
    }

    @Test func messagesAreLimitedExactly() {
        func long(_ length: Int) -> [UInt8] {
            let empty = #"{"method":"a.B","parameters":{"x":""}}"#
            let filler = String(repeating: "y", count: length - empty.utf8.count)
            return message(#"{"method":"a.B","parameters":{"x":"\#(filler)"}}"#)
        }
        #expect(violation(long(1 << 20)) == nil)
        #expect(violation(long((1 << 20) + 1)) == .messageTooLong(limit: 1 << 20))
        #expect(violation(long(10 << 20)) == .messageTooLong(limit: 1 << 20))
    }

    @Test func anEndlessMessageIsNotHoarded() throws {
        var connection = connection()
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 64 << 10)
        var received = 0
        while connection.wantsInput && received < 10 << 20 {
            connection.receive(chunk)
            received += chunk.count
            _ = try? connection.nextCall()
        }
        #expect(received <= (1 << 20) + chunk.count)
        #expect(connection.isFinished)
    }

    @Test func nothingIsReadBehindAViolation() throws {
        var connection = connection()
        connection.receive(message("garbage") + message(#"{"method":"a.B"}"#))
        #expect(throws: ProtocolViolation.malformed) { try connection.nextCall() }
        #expect(try connection.nextCall() == nil)
        connection.receive(message(#"{"method":"a.B"}"#))
        #expect(try connection.nextCall() == nil)
    }

    @Test func repliesBeforeAViolationAreSent() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B"}"#) + message("garbage"))
        let call = try #require(try connection.nextCall())
        connection.send(VarlinkReply(["x": Int64(1)]), to: call.id)
        #expect(throws: ProtocolViolation.malformed) { try connection.nextCall() }
        #expect(!connection.isFinished)
        #expect(sent(by: &connection) == [#"{"parameters":{"x":1}}"#])
        #expect(connection.isFinished)
    }

    @Test func randomBytesNeverHurt() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let length = Int(generator.next() % 200)
            let alphabet = Array(#"{}[]":,\truefalsn0123456789."methodparameters"#.utf8) + [0, 0xff, 0xc3]
            let bytes = (0..<length).map { _ in alphabet[Int(generator.next() % UInt64(alphabet.count))] }
            _ = violation(bytes)
        }
    }
}
