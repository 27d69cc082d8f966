import ControlAPI

@testable import Varlink

extension FuzzTarget {
    /// What a client sends to the control socket: the first byte says whether it comes in two pieces, and where it is cut.
    static let varlinkServer = FuzzTarget("varlink-server", takesList: true) { bytes in
        var input = FuzzInput(bytes)
        let pieces = input.pieces()
        let outcome = serve(pieces)
        if pieces.count > 1 {
            require(outcome == serve([input.rest]), "the pieces in which calls come do not matter")
        }
    }

    private static let service = Service(
        vendor: "lifed", product: "lifed", version: "1", url: "a:b", interfaces: [LifedInterface.interface])

    private static let limits = ConnectionLimits(message: 4096, nesting: 16, queuedOutput: 1 << 20)

    private static let overrun = ControlError(.subscriptionOverrun, id: nil, reason: "", remedy: "").reply

    private struct Outcome: Equatable {
        var methods: [String] = []
        var violation: ProtocolViolation?
        var output: [UInt8] = []
    }

    private static func serve(_ pieces: [ArraySlice<UInt8>]) -> Outcome {
        var connection = ServerConnection(limits: limits, overrunReply: overrun)
        var outcome = Outcome()
        for piece in pieces {
            connection.receive(piece)
            do throws(ProtocolViolation) {
                while let call = try connection.nextCall(of: service) {
                    outcome.methods.append(call.method)
                    connection.send(answer(to: call), to: call.id)
                }
            } catch {
                require(connection.isClosing, "a violation ends the connection")
                if outcome.violation == nil { outcome.violation = error }
            }
            while !connection.pendingOutput.isEmpty {
                outcome.output += connection.pendingOutput
                connection.consumeOutput(connection.pendingOutput.count)
            }
        }
        return outcome
    }

    private static func answer(to call: Call) -> VarlinkReply {
        do throws(ServiceError) {
            return try echo(call)
        } catch {
            return error.reply
        }
    }

    /// The calls that were understood, in words that can be compared.
    static func echo<Parameters: JSONReadable & JSONWritable>(
        _ call: Call, _ type: Parameters.Type
    ) throws(ServiceError) -> VarlinkReply {
        let reply = VarlinkReply(try call.parameters(as: type))
        checkRoundTrip(reply, type)
        return reply
    }
}

/// Holds that a reply's parameters are read as what was written.
func checkRoundTrip<Parameters: JSONReadable & JSONWritable>(_ reply: VarlinkReply, _ type: Parameters.Type) {
    let message = reply.message.dropLast()
    require(!message.contains(0), "a message has its NUL at its end only")
    let envelope = try? WireFormat.decodeEnvelope(ReplyEnvelope.self, from: message, nesting: 16)
    let parameters = envelope.flatMap { try? Parameters(json: $0.parameters) }
    require(parameters.map { VarlinkReply($0) } == reply, "what was written is read again")
}
