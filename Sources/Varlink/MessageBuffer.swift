/// Cuts a stream of bytes into messages at their terminating NULs.
struct MessageBuffer {
    private var bytes: [UInt8] = []
    /// Where the first message that was not taken begins.
    private var start = 0
    /// Up to where the bytes are known to hold no terminator.
    private var scanned = 0
    private let limit: Int

    /// Taken bytes are given up once there are this many of them and as many as the rest, so that moving the rest is
    /// paid for by what was taken.
    private static let compactionThreshold = 64 << 10

    init(limit: Int) {
        self.limit = limit
    }

    /// The bytes that no message was made of yet.
    var count: Int { bytes.count - start }

    /// How many bytes are held, those of taken messages included.
    var storedCount: Int { bytes.count }

    /// Whether there is room for more: what is here is not yet longer than the longest message.
    var wantsInput: Bool { count <= limit }

    /// Whether a whole message waits, or one that is too long.
    var hasMessage: Bool { count > limit || bytes[start...].contains(0) }

    mutating func append(_ input: some Sequence<UInt8>) {
        // Here and not only where the messages run out: a sender that is always ahead lets them never run out.
        compact()
        bytes.append(contentsOf: input)
    }

    /// The next whole message without its terminator, or nil when it has not arrived in full.
    mutating func next() throws(ProtocolViolation) -> ArraySlice<UInt8>? {
        guard let end = bytes[scanned...].firstIndex(of: 0) else {
            scanned = bytes.count
            guard count <= limit else { throw .messageTooLong(limit: limit) }
            return nil
        }
        guard end - start <= limit else { throw .messageTooLong(limit: limit) }
        // A copy of its own: a call that is kept would otherwise keep, and make copy, all that arrived with it.
        let message = Array(bytes[start..<end])[...]
        start = end + 1
        scanned = start
        return message
    }

    mutating func removeAll() {
        bytes = []
        start = 0
        scanned = 0
    }

    private mutating func compact() {
        let isWorthIt = start >= Self.compactionThreshold && start >= bytes.count / 2
        guard start == bytes.count || isWorthIt else { return }
        bytes = Array(bytes[start...])
        scanned -= start
        start = 0
    }
}
