import Testing

@testable import ControlAPI
@testable import Varlink

/// The refusals of a daemon, as the client gets them.
@Suite struct ErrorTests {
    @Test(arguments: ControlError.Kind.allCases)
    func refusalArrivesUnchanged(_ kind: ControlError.Kind) throws {
        let refusal = ControlError(kind, id: "org.example.app", reason: "it is \"so\"", remedy: "Wait.")
        let remote = try received(refusal.reply)
        #expect(ControlError(remote) == refusal)
        #expect(ControlClientError(.remote(remote)) == .declined(refusal))
    }

    @Test(arguments: [
        (ServiceError.permissionDenied, ControlClientError.notPermitted(path: nil)),
        (.invalidParameter("a.b[2]"), .parameterNotTaken("a.b[2]")),
        (.interfaceNotFound("org.lifed"), older), (.methodNotFound("org.lifed.Wake"), older),
        (.methodNotImplemented("org.lifed.Wake"), older),
        (.expectedMore, .notUnderstood("the daemon answered with the error org.varlink.service.ExpectedMore")),
    ])
    func errorOfAnyServiceHasItsMeaning(_ error: ServiceError, _ meant: ControlClientError) throws {
        let remote = try received(error.reply)
        #expect(ServiceError(remote) == error)
        #expect(ControlError(remote) == nil)
        #expect(ControlClientError(.remote(remote)) == meant)
    }

    @Test(arguments: [
        #"{"error":"org.lifed.Unheard","parameters":{"id":"a","reason":"b","remedy":"c"}}"#,
        #"{"error":"org.lifed.Refused","parameters":{"id":"a","remedy":"c"}}"#, #"{"error":"org.lifed.Refused"}"#,
        #"{"error":"org.varlink.service.Unheard"}"#, #"{"error":"org.example.Refused","parameters":{}}"#,
    ])
    func `an unknown error is named`(_ message: String) throws {
        let remote = try received(Array(message.utf8)[...])
        #expect(ControlError(remote) == nil)
        #expect(ServiceError(remote) == nil)
        let meant = "the daemon answered with the error \(remote.name)"
        #expect(ControlClientError(.remote(remote)) == .notUnderstood(meant))
    }

    private static let older = ControlClientError.notUnderstood(
        "the daemon does not know this call; is it older than the client?")

    private func received(_ reply: VarlinkReply) throws -> RemoteError { try received(reply.message.dropLast()) }

    private func received(_ message: ArraySlice<UInt8>) throws -> RemoteError {
        let envelope = try WireFormat.decodeEnvelope(ReplyEnvelope.self, from: message, nesting: 16)
        return RemoteError(
            name: try #require(envelope.error), parameters: envelope.parameters)
    }
}
