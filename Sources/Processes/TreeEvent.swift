/// Something that happened to a process tree.
public struct TreeEvent: Hashable, Sendable {
    /// What happened.
    public enum Change: Hashable, Sendable {
        /// The main process ended and has been reaped. Others of the tree may go on.
        case mainEnded(ExitStatus)
        /// `asked` is false when it was not this program that wanted the tree stopped.
        case mainStopped(Signal, asked: Bool)
        /// `asked` is false when the tree should be stopped: somebody else sent SIGCONT.
        case mainContinued(asked: Bool)
        /// A process of the tree that was adopted has stopped; `StopCheck` says what it means for the tree.
        case memberStopped(ProcessID)
        /// The same as `mainContinued`, for an adopted process. The children of a living process of the tree are
        /// reported to their parent only.
        case memberContinued(ProcessID, asked: Bool)
        /// Somebody else thawed a tree that should be stopped.
        case thawed
        /// The main process and all others have ended.
        case emptied
    }

    /// The launch it happened to.
    public let tree: LaunchToken
    /// What happened.
    public let change: Change
}
