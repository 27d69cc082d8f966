/// How much one peer may make this side hold in memory.
public struct ConnectionLimits: Sendable, Equatable {
    /// The longest message that is accepted, in bytes, without its terminating NUL.
    public var message: Int
    /// How deep objects and arrays may lie within one another in a message.
    public var nesting: Int
    /// How many bytes may wait for the peer to read them before a stream of replies counts as overrun
    /// and before further calls wait.
    public var queuedOutput: Int

    /// Limits for a peer that is not trusted: 1 MiB a message, 64 levels, 256 KiB of unread replies.
    public init(message: Int = 1 << 20, nesting: Int = 64, queuedOutput: Int = 256 << 10) {
        self.message = message
        self.nesting = nesting
        self.queuedOutput = queuedOutput
    }
}
