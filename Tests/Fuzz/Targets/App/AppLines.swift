import LifecycleCore

@testable import AppChannel
@testable import LifecycleDaemon

extension FuzzTarget {
    /// What an app says, as the daemon reads it: the first byte says whether it comes in two pieces, and where it is cut.
    static let appLines = FuzzTarget("app-lines") { bytes in
        var input = FuzzInput(bytes)
        let pieces = input.pieces()
        let entries = lines(pieces)
        if pieces.count > 1 {
            require(entries == lines([input.rest]), "the pieces in which lines come do not matter")
        }
        for case .line(let line) in entries {
            compareWithEmbedded(lineFromApp: line)
            if let message = try? MessageFromApp(parsing: line) { checkRoundTrip(message) }
        }
    }

    private static func lines(_ pieces: [ArraySlice<UInt8>]) -> [LineBuffer.Entry] {
        var buffer = LineBuffer()
        var entries: [LineBuffer.Entry] = []
        for piece in pieces {
            buffer.append(piece)
            require(buffer.remainder.count <= AppProtocol.maximumLineLength, "an unfinished line is bounded")
            while let entry = buffer.next() { entries.append(entry) }
        }
        require(buffer.isEmpty, "what next() has taken is gone")
        return entries
    }

    private static func checkRoundTrip(_ message: MessageFromApp) {
        guard let encoded = try? message.encoded() else { return }
        require(encoded.last == UInt8(ascii: "\n"), "a message ends with a line feed")
        require(!encoded.dropLast().contains(UInt8(ascii: "\n")), "a message is one line")
        require((try? MessageFromApp(parsing: encoded.dropLast())) == message, "what was written is read again")
        _ = AppMessage(message)
    }
}
