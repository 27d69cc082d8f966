import Testing

@testable import Varlink

let overrunReply = VarlinkReply.error("org.example.Overrun", ["reason": "too slow"])

func connection(_ limits: ConnectionLimits = ConnectionLimits()) -> ServerConnection {
    ServerConnection(limits: limits, overrunReply: overrunReply)
}

/// A message with its terminator.
func message(_ text: String) -> [UInt8] {
    Array(text.utf8) + [0]
}

/// What the connection has to send, without terminators; the kernel takes all of it.
func sent(by connection: inout ServerConnection) -> [String] {
    var bytes: [UInt8] = []
    while !connection.pendingOutput.isEmpty {
        bytes += connection.pendingOutput
        connection.consumeOutput(connection.pendingOutput.count)
    }
    return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
}

/// The violation that the bytes are, or nil when they are none.
func violation(_ bytes: [UInt8], limits: ConnectionLimits = ConnectionLimits()) -> ProtocolViolation? {
    var connection = connection(limits)
    connection.receive(bytes)
    do throws(ProtocolViolation) {
        while let call = try connection.nextCall() { connection.send(VarlinkReply(NoParameters()), to: call.id) }
        return nil
    } catch {
        return connection.isFinished || connection.pendingOutputCount > 0 ? error : nil
    }
}
