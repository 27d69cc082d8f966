/// How the processes of an app are held together.
public enum ContainmentKind: String, Hashable, Sendable {
    /// The process group of the main process, and every other descendant as it is found.
    case processGroup = "process-group"
    /// A cgroup of its own.
    case cgroup
}

/// A signal that could not be sent to a process that exists.
public struct SignalFailure: Hashable, Sendable {
    /// The process that did not get the signal.
    public let process: ProcessIdentity
    /// What the kernel said, mostly EPERM.
    public let error: Errno
}

/// The boundary around the processes of one app: who is inside, and reaching all of them.
///
/// Process 0, process 1 and the calling process are never inside. A process that has vanished is never an error.
public protocol Containment: AnyObject {
    var kind: ContainmentKind { get }

    /// The name of the cgroup below the apps' directory; nil where there is none.
    var groupName: String? { get }

    /// The processes of this moment that have not ended.
    func members() -> [ProcessStatus]

    /// The numbers of the members, and of what has ended among them, where that takes less than looking at each; nil where it
    /// does not.
    func memberIDs() -> [ProcessID]?

    /// What holds the processes: another containment if this one only chooses among its members.
    var base: any Containment { get }

    /// Whether a signal may be sent to the process that has a number now. The answer holds as long as a pidfd of the
    /// process was open before, and is.
    func maySignal(_ pid: ProcessID) -> Bool

    /// Sends a signal to as many members as the kernel reaches in one call, as atomically against fork(2) as it allows.
    ///
    /// A process that moves meanwhile may be missed; so may one that is born.
    ///
    /// - Returns: Whether a member was among them; nil when nobody was.
    func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)?

    /// Whether a process that is not below the main one, as far as can be seen now, belongs inside nevertheless.
    func claims(_ process: ProcessStatus) -> Bool

    /// The main process has been reaped: from now on its number may belong to a stranger.
    func leaderWasReaped()

    /// Polls as exceptional (POLLPRI) when the last member has ended, and when the members have been frozen or thawed;
    /// nil where nothing tells.
    var changeDescriptor: Int32? { get }

    /// Ends the exceptional state of the descriptor. False when nothing more will come.
    func acknowledgeChange() -> Bool

    /// Asks for every member, and every child that one may yet have, to be kept from running.
    ///
    /// - Returns: Whether that can be asked for. `isFrozen` tells when it is done.
    func freeze() -> Bool

    /// Ends what `freeze()` asked for.
    func thaw()

    /// Whether `freeze()` is in force, done or not.
    var isAskedToFreeze: Bool { get }

    /// Whether all are kept from running since `freeze()`.
    var isFrozen: Bool { get }

    /// Whether each member is known to be in the cgroup.
    var isGroupAlone: Bool { get }

    /// Whether `freeze()` reaches a member.
    func freezes(_ process: ProcessStatus) -> Bool

    /// Lets go of the members that serve other apps too.
    ///
    /// - Parameter members: Those of a look that was just taken.
    /// - Returns: Those that are left.
    func release(_ members: [ProcessStatus]) -> [ProcessStatus]

    /// Looks further than ``members()`` does, which finds from then on what was found.
    ///
    /// - Parameter members: Those of a look that was just taken.
    /// - Returns: Whether there is a member that was not known.
    func lookOutside(_ members: [ProcessStatus]) -> Bool

    /// Whether a member that has ended, and has not been reaped, may have left another behind that is not known yet.
    var mayHaveLeftOthers: Bool { get }

    /// Gives back what the boundary is made of, as soon as it is empty. Nothing else is called afterwards.
    func discard()
}

extension Containment {
    var groupName: String? { nil }
    var isAskedToFreeze: Bool { false }
    func memberIDs() -> [ProcessID]? { nil }
    var mayHaveLeftOthers: Bool { false }
    var isGroupAlone: Bool { false }
    var base: any Containment { self }
    func freezes(_ process: ProcessStatus) -> Bool { true }
    func release(_ members: [ProcessStatus]) -> [ProcessStatus] { members }
    func lookOutside(_ members: [ProcessStatus]) -> Bool { false }
    func maySignal(_ pid: ProcessID) -> Bool { true }
}
