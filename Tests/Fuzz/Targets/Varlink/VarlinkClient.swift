import ControlAPI

@testable import Varlink

extension FuzzTarget {
    /// What a daemon sends to `lifectl`: the first byte chooses what it was asked.
    static let varlinkClient = FuzzTarget("varlink-client", takesList: true) { bytes in
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
            readError(RemoteError(name: name, parameters: envelope.parameters))
            return
        }
        switch question {
        case 0: read(envelope, as: AppReply.self)
        case 1: read(envelope, as: ListReply.self)
        case 2: read(envelope, as: DescribeReply.self)
        case 3: read(envelope, as: MonitorReply.self)
        case 4: read(envelope, as: ReloadReply.self)
        case 5: read(envelope, as: GetStatusReply.self)
        case 6: read(envelope, as: OutcomeReply.self)
        case 7: read(envelope, as: SceneReply.self)
        default: read(envelope, as: SimulateMemoryPressureReply.self)
        }
    }

    private static func read<Result: JSONReadable & JSONWritable>(
        _ envelope: ReplyEnvelope, as type: Result.Type
    ) {
        let result: Result? = try? Result(json: envelope.parameters)
        if let result { checkRoundTrip(VarlinkReply(result), type) }
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
