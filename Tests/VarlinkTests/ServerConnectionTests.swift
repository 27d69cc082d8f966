import Testing

@testable import Varlink

@Suite struct ServerConnectionTests {
    @Test func aMessageMayArriveByteByByte() throws {
        var connection = connection()
        let bytes = message(#"{"method":"a.B"}"#)
        for byte in bytes.dropLast() {
            connection.receive([byte])
            #expect(try connection.nextCall() == nil)
        }
        connection.receive([0])
        #expect(try connection.nextCall()?.method == "a.B")
    }

    @Test func callsAreAnsweredInOrderOneAtATime() throws {
        var connection = connection()
        for index in 0..<1000 { connection.receive(message(#"{"method":"a.B\#(index)"}"#)) }
        for index in 0..<1000 {
            let call = try #require(try connection.nextCall())
            #expect(call.method == "a.B\(index)")
            #expect(try connection.nextCall() == nil)
            #expect(connection.send(VarlinkReply(["index": Int64(index)]), to: call.id) == .queued)
        }
        #expect(sent(by: &connection) == (0..<1000).map { #"{"parameters":{"index":\#($0)}}"# })
    }

    @Test func callsWaitWhileThePeerDoesNotRead() throws {
        var connection = connection(ConnectionLimits(queuedOutput: 1000))
        for _ in 0..<100 { connection.receive(message(#"{"method":"a.B"}"#)) }
        var answered = 0
        while let call = try connection.nextCall() {
            connection.send(VarlinkReply(["text": String(repeating: "x", count: 100)]), to: call.id)
            answered += 1
        }
        #expect(answered < 15)
        #expect(connection.pendingOutputCount < 1200)
        #expect(sent(by: &connection).count == answered)
        #expect(try connection.nextCall() != nil)
    }

    @Test func repliesThatAreAllThereAreNoOverrun() throws {
        var connection = connection(ConnectionLimits(queuedOutput: 1000))
        connection.receive(message(#"{"method":"a.B","more":true}"#) + message(#"{"method":"a.C"}"#))
        let stream = try #require(try connection.nextCall())
        let text = ["text": String(repeating: "x", count: 100)]
        let replies = (0..<100).map { _ in VarlinkReply.continuing(text) } + [VarlinkReply(text)]
        #expect(connection.send(replies, to: stream.id) == .queued)
        #expect(sent(by: &connection).count == 101)
        let call = try #require(try connection.nextCall())
        #expect(connection.send([.continuing(text), VarlinkReply(text)], to: call.id) == .notExpected)
    }

    @Test func inputWaitsWhileALongBacklogIsUnanswered() throws {
        var connection = connection(ConnectionLimits(message: 100))
        connection.receive(message(#"{"method":"a.B"}"#))
        let call = try #require(try connection.nextCall())
        for _ in 0..<10 { connection.receive(message(#"{"method":"a.B"}"#)) }
        #expect(!connection.wantsInput)
        connection.send(VarlinkReply(NoParameters()), to: call.id)
        for _ in 0..<10 {
            let call = try #require(try connection.nextCall())
            connection.send(VarlinkReply(NoParameters()), to: call.id)
        }
        #expect(connection.wantsInput)
    }

    @Test func onewayCallsGetNoReply() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B","oneway":true}"#) + message(#"{"method":"a.C"}"#))
        let first = try #require(try connection.nextCall())
        #expect(first.isOneway)
        #expect(connection.send(VarlinkReply(["x": Int64(1)]), to: first.id) == .suppressed)
        let second = try #require(try connection.nextCall())
        connection.send(VarlinkReply(["x": Int64(2)]), to: second.id)
        #expect(sent(by: &connection) == [#"{"parameters":{"x":2}}"#])
    }

    @Test func anUpgradeIsRefusedAndTheConnectionGoesOn() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B","upgrade":true}"#) + message(#"{"method":"a.C"}"#))
        #expect(try connection.nextCall()?.method == "a.C")
        #expect(
            sent(by: &connection) == [
                #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"upgrade"}}"#
            ])
    }

    @Test func aStreamHoldsTheCallsBehindIt() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B","more":true}"#) + message(#"{"method":"a.C"}"#))
        let stream = try #require(try connection.nextCall())
        connection.send(.continuing(["x": Int64(1)]), to: stream.id)
        connection.send(.continuing(["x": Int64(2)]), to: stream.id)
        #expect(try connection.nextCall() == nil)
        connection.send(VarlinkReply(["x": Int64(3)]), to: stream.id)
        #expect(try connection.nextCall()?.method == "a.C")
        #expect(
            sent(by: &connection) == [
                #"{"continues":true,"parameters":{"x":1}}"#, #"{"continues":true,"parameters":{"x":2}}"#,
                #"{"parameters":{"x":3}}"#,
            ])
    }

    @Test func unrequestedReplyIsNotSent() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B"}"#))
        let call = try #require(try connection.nextCall())
        #expect(connection.send(.continuing(NoParameters()), to: call.id) == .notExpected)
        #expect(connection.send(VarlinkReply(NoParameters()), to: call.id) == .queued)
        #expect(connection.send(VarlinkReply(NoParameters()), to: call.id) == .notExpected)
        #expect(sent(by: &connection).count == 1)
    }

    @Test func theEndOfInputLeavesTheCallsToBeAnswered() throws {
        var connection = connection()
        connection.receive(message(#"{"method":"a.B"}"#) + message(#"{"method":"a.C"}"#) + Array("half".utf8))
        connection.endOfInput()
        for _ in 0..<2 {
            let call = try #require(try connection.nextCall())
            #expect(!connection.isFinished)
            connection.send(VarlinkReply(NoParameters()), to: call.id)
        }
        #expect(sent(by: &connection).count == 2)
        #expect(connection.isFinished)
    }
}

@Suite struct OverrunTests {
    private func stream(_ limit: Int) throws -> (ServerConnection, Call.ID) {
        var connection = connection(ConnectionLimits(queuedOutput: limit))
        connection.receive(message(#"{"method":"a.Monitor","more":true}"#))
        let call = try #require(try connection.nextCall())
        return (connection, call.id)
    }

    @Test func aMonitorThatNeverReadsIsEndedWithAnError() throws {
        var (connection, id) = try stream(4096)
        var outcomes: [ServerConnection.SendOutcome] = []
        for number in 0..<10_000 { outcomes.append(connection.send(.continuing(["number": Int64(number)]), to: id)) }
        #expect(outcomes.count { $0 == .overrun } == 1)
        #expect(outcomes.last == .notExpected)
        #expect(connection.isClosing)
        #expect(sent(by: &connection) == [#"{"error":"org.example.Overrun","parameters":{"reason":"too slow"}}"#])
        #expect(connection.isFinished)
    }

    @Test func aMessageThatWasBegunIsEnded() throws {
        var (connection, id) = try stream(4096)
        connection.send(.continuing(["number": Int64(0)]), to: id)
        let whole = Array(connection.pendingOutput)
        connection.consumeOutput(5)
        while connection.send(.continuing(["number": Int64(1)]), to: id) == .queued {}
        let rest = Array(connection.pendingOutput)
        #expect(Array(whole.prefix(5)) + rest == whole)
        #expect(sent(by: &connection).last == #"{"error":"org.example.Overrun","parameters":{"reason":"too slow"}}"#)
    }

    @Test func oneReplyMayBeLongerThanTheLimit() throws {
        var (connection, id) = try stream(100)
        let long = String(repeating: "x", count: 5000)
        #expect(connection.send(.continuing(["text": long]), to: id) == .queued)
        #expect(sent(by: &connection).count == 1)
        #expect(connection.send(.continuing(["text": "short"]), to: id) == .queued)
    }

    @Test func aReaderThatKeepsUpIsNeverEnded() throws {
        var (connection, id) = try stream(4096)
        for number in 0..<10_000 {
            #expect(connection.send(.continuing(["number": Int64(number)]), to: id) == .queued)
            connection.consumeOutput(connection.pendingOutput.count)
        }
        #expect(connection.pendingOutputCount == 0)
    }
}
