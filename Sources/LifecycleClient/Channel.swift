internal import CLifecycle

/// The app's end of the channel. Nothing waits, whatever the other end does.
struct Channel {
    enum Receipt {
        case bytes([UInt8])
        case wouldBlock
        case ended
    }

    enum Dispatch {
        case sent(Int)
        case wouldBlock
        case ended
    }

    /// How many bytes are taken at once. Lines are short, and a callback is seldom followed by another.
    private static let pieceLength = 1024

    let descriptor: Int32

    /// What has arrived, a piece at most.
    func receive() -> Receipt {
        var outcome = LIFECYCLE_IO_ENDED
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { piece, count in
            outcome = unsafe lifecycle_receive(descriptor, piece.baseAddress, piece.count, &count)
        }
        return switch outcome {
        case LIFECYCLE_IO_DONE: .bytes(bytes)
        case LIFECYCLE_IO_WOULD_BLOCK: .wouldBlock
        default: .ended
        }
    }

    func send(_ bytes: [UInt8]) -> Dispatch {
        var count = 0
        switch unsafe lifecycle_send(descriptor, bytes, bytes.count, &count) {
        case LIFECYCLE_IO_DONE: return .sent(count)
        case LIFECYCLE_IO_WOULD_BLOCK: return .wouldBlock
        default: return .ended
        }
    }

    /// Lets nothing more in: `receive()` gives what has arrived already, and then the end.
    func shutDown() {
        lifecycle_shut_down(descriptor)
    }
}
