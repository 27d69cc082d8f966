/// Where it can be seen what is in use: a compositor, an X server, a sound server.
protocol Source: AnyObject {
    /// Readable when there may be something new.
    var descriptor: CInt { get }

    /// Whether there is something to read without waiting.
    var isReady: Bool { get }

    /// Reads what is there, and never waits for long.
    ///
    /// - Returns: What is seen now; nil where that is not known yet, or nothing has changed.
    func read() throws(SourceLost) -> Observation?
}

/// The source has gone, or says nothing that can be understood: why, in words.
struct SourceLost: Error, Equatable {
    let reason: String
}

extension Source {
    var isReady: Bool { FollowClock.isReadable(descriptor) }
}
