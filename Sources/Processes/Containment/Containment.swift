/// A way to hold the processes of an app together.
public enum ContainmentKind: String, Hashable, Sendable {
    /// A cgroup of its own.
    case cgroup
    /// A keeper: the members are its descendants.
    case keeper
    /// The descendants of an adopted process, and those that were once seen as such.
    case descent
}

/// A signal that could not be sent to a process that exists.
public struct SignalFailure: Hashable, Sendable {
    /// The process that did not get the signal.
    public let process: ProcessIdentity
    /// The error of the kernel, mostly EPERM.
    public let error: Errno
}

/// The boundary around the processes of one app, which never holds process 0, process 1 or the daemon.
///
/// A vanished process is no error. The defaults are those of a boundary without a cgroup: only signals hold the processes, and the kernel
/// does not tell of the end of the last. A subclass overrides at least ``look()`` and ``claims(_:)``.
class Containment {
    /// The way in which the processes are held together.
    var kind: ContainmentKind { .descent }

    /// The parent of the app, if that is a program of its own.
    var keeper: Keeper? { nil }

    /// The cgroup that holds the processes; nil where there is none.
    var cgroup: Cgroup? { nil }

    /// The name of the cgroup below the apps' directory; nil where there is none.
    var groupName: String? { nil }

    /// The kernel's number of that cgroup.
    var groupNumber: UInt? { nil }

    /// The containment that holds the processes: another one if this one only chooses among its members.
    var base: Containment { self }

    /// Does what can wait until the program runs.
    func completeSetUp() {}

    /// Looks at the processes of this moment.
    func look() -> Look { Look() }

    /// Returns the processes of this moment that have not ended, as far as they can be seen.
    final func members() -> [ProcessStatus] { look().members }

    /// Returns whether the kernel knows of a member, which a look can miss: a chain of processes that fork and end is never whole in a
    /// list.
    func isPopulated() throws(Errno) -> Bool { false }

    /// Returns the numbers of the members, and of those among them that have ended; nil if that takes as long as ``members()``.
    func memberIDs() throws(Errno) -> [ProcessID]? { nil }

    /// Returns whether this process is the only member; false if that cannot be read, or takes as long as ``members()``.
    func isAlone(_ process: ProcessID) -> Bool { (try? memberIDs())?.isOnly(process) ?? false }

    /// The members of the latest look that are neither below the main process nor in the cgroup.
    var escaped: [ProcessIdentity] { [] }

    /// Returns whether a process that is not below the main one, as far as can be seen now, belongs inside nevertheless.
    func claims(_ process: ProcessStatus) throws(Errno) -> Bool { false }

    /// Returns whether a signal may be sent to the process that has a number now. The answer holds as long as a pidfd of the
    /// process was open before, and is.
    func maySignal(_ pid: ProcessID) throws(Errno) -> Bool { true }

    /// Sends a signal to as many members as the kernel reaches in one call, as atomically against fork(2) as it allows.
    ///
    /// A process that moves meanwhile may be missed; so may one that is born.
    ///
    /// - Returns: Whether a member was among them; nil if the call reaches no process.
    func signalTogether(_ signal: Signal) -> ((ProcessStatus) -> Bool)? { nil }

    /// Notes that the main process has been reaped: from now on its number may belong to a stranger.
    func leaderWasReaped() {}

    /// Poll as exceptional (POLLPRI) when the last member has ended, and when the members have been frozen or thawed. None if the
    /// kernel does not tell; several for a containment of several groups.
    var changeDescriptors: [Int32] { [] }

    /// Ends the exceptional state of the descriptors.
    ///
    /// - Returns: False if nothing more will come.
    func acknowledgeChange() -> Bool { false }

    /// Asks for every member, and every child that one may yet have, to be kept from running.
    ///
    /// - Returns: Whether the kernel takes the request. ``isFrozen()`` tells when it is done.
    func freeze() -> Bool { false }

    /// False if ``freeze()`` is for a moment only.
    var mayStayFrozen: Bool { true }

    /// Ends what ``freeze()`` asked for.
    func thaw() {}

    /// A Boolean value that indicates whether ``freeze()`` is in force, done or not.
    var isAskedToFreeze: Bool { false }

    /// Returns whether all members are kept from running since ``freeze()``.
    func isFrozen() throws(Errno) -> Bool { false }

    /// A Boolean value that indicates whether each member is known to be in the cgroup.
    var isGroupAlone: Bool { false }

    /// Returns whether ``freeze()`` reaches a member.
    func freezes(_ process: ProcessStatus) -> Bool { true }

    /// Releases the members that serve other apps too.
    ///
    /// - Parameter look: One that was just taken.
    /// - Returns: A look at those that are left.
    func releaseHelpers(_ look: Look) -> Look { look }

    /// Looks further than ``members()`` does, which finds from then on what was found.
    ///
    /// - Parameter members: Those of a look that was just taken.
    /// - Returns: Whether there is a member that was not known.
    func lookOutside(_ members: [ProcessStatus]) throws(Errno) -> Bool { false }

    /// Removes the boundary as soon as it is empty. The containment is not used afterwards.
    func discard() {}

    /// The groups of the units of systemd that hold the processes; empty if there are none.
    var units: [String] { [] }

    /// A Boolean value that indicates whether the tree ends with the last member, also if the main process runs on elsewhere.
    var endsWhenEmpty: Bool { false }

    /// Returns a containment of only those processes that run as the owner.
    ///
    /// - Parameter origin: The cgroup that other processes return to.
    func limited(to owner: TreeOwner, origin: String?) -> Containment {
        owner.user == 0 ? self : OwnedContainment(self, owner: owner, origin: origin)
    }
}
