import ControlAPI

@testable import Varlink

extension FuzzTarget {
    /// What a daemon sends to `lifectl`: the first byte chooses what it was asked.
    static let varlinkClient = FuzzTarget("varlink-client") { bytes in
        var input = FuzzInput(bytes)
        let question = input.number(below: 9)
        var buffer = MessageBuffer(limit: 4096)
        buffer.append(input.rest)
        while let message = try? buffer.next() { read(message, question) }
    }

    private static func read(_ message: ArraySlice<UInt8>, _ question: Int) {
        let envelope = try? WireFormat.decodeEnvelope(ReplyEnvelope.self, from: message, nesting: 16)
        guard let envelope else { return }
        if let name = envelope.error {
            readError(RemoteError(name: name, message: message, hasParameters: envelope.hasParameters))
            return
        }
        switch question {
        case 0: read(message, envelope, as: AppReply.self)
        case 1: read(message, envelope, as: ListReply.self)
        case 2: read(message, envelope, as: DescribeReply.self)
        case 3: read(message, envelope, as: MonitorReply.self)
        case 4: read(message, envelope, as: ReloadReply.self)
        case 5: read(message, envelope, as: StatusReply.self)
        case 6: read(message, envelope, as: OutcomeReply.self)
        case 7: read(message, envelope, as: SceneReply.self)
        default: read(message, envelope, as: MemoryPressureReply.self)
        }
    }

    private static func read<Result: Codable>(
        _ message: ArraySlice<UInt8>, _ envelope: ReplyEnvelope, as type: Result.Type
    ) {
        let result = try? WireFormat.decodeParameters(type, of: message, present: envelope.hasParameters)
        if let result { checkRoundTrip(Reply(result), type) }
    }

    private static func readError(_ error: RemoteError) {
        if let known = ServiceError(error) {
            let reply = known.reply.message.dropLast()
            let name = (try? WireFormat.decodeEnvelope(ReplyEnvelope.self, from: reply, nesting: 16))?.error
            require(name == error.name, "an error keeps its name")
        }
        guard let refusal = ControlError(error) else { return }
        require(error.name == "\(LifedInterface.name).\(refusal.kind.rawValue)", "a refusal keeps its name")
    }
}
