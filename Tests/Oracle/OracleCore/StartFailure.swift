/// Why an app's program could not be started. What is to be done about it depends on which of these it is.
public enum StartFailure: Sendable, Equatable {
    /// The machine, or a limit, has no room for another process or descriptor; it may work later, as it is.
    case shortage(String)
    /// What a successor of the daemon must know of the app cannot be written; it may work later, as it is.
    case unrecorded(String)
    /// Something is wrong with the command or with what is said of it, or what was to be run is not there any more.
    case command(String)

    /// It in words for people, without a full stop.
    public var words: String {
        switch self {
        case .shortage(let words), .unrecorded(let words), .command(let words): words
        }
    }
}
