/// The inputs of the core. Any input is handled in any state, and none fails.
public enum Input: Sendable {
    /// The daemon is ready: apps are launched, and the home app comes to the foreground.
    case start
    /// The settings, at the start and after a reload.
    indirect case configure(Settings)
    /// An app that may be launched from now on, or whose policy has changed.
    indirect case define(AppID, Policy)
    /// An app without a manifest from now on; if it runs, it is kept until it ends.
    case forget(AppID)
    /// The end of an app under the previous daemon, unless a later end is known.
    case remember(AppID, ExitRecord)
    /// A request, which is answered by exactly one ``Ready/Answer``.
    case request(RequestID, Request)
    /// The apps that are used in this way from now on; unknown ones are left out.
    case setUses(Use, Set<AppID>)
    /// The daemon stops: every app is to end.
    case shutDown
    /// The outcome of an operation, or a change of an app's processes. It is ignored if the app is not known any more.
    case outcome(AppIndex, Outcome)
    /// A message from an app over its channel. It is ignored if the app is not known any more.
    case message(AppIndex, AppMessage)
    /// The apps of a restored core have their processes and channels again; pending operations go on.
    case resumeRestored
    /// How short memory is: a report of the machine, or the outcome of ``Ready/Operation/readMemory``.
    case memory(MemoryShortage)
    /// Time has passed: the earliest deadline is acted upon, if it is due.
    case tick
}

/// The outcome of an operation, or a change of an app's processes without one.
public enum Outcome: Sendable, Equatable {
    /// The app's program runs.
    case spawned
    /// The app's program could not be started.
    case spawnFailed(SystemFailure)
    /// Every process of the tree is seen stopped.
    case stopped
    /// Some processes do not stop yet. The attempt goes on.
    case stopIncomplete(SystemFailure)
    /// Every process of the tree was continued.
    case resumed
    /// Another program continued a process of a stopped tree.
    case resumedByOther
    /// Another program stopped the main process.
    case stoppedByOther
    /// A signal from outside waits for a stopped process, which it may end as soon as that runs.
    case signalPending
    /// The main process ended. If no process of its tree is left, ``gone`` does not follow.
    case exited(ExitStatus, othersLeft: Bool)
    /// The last process of the tree is gone.
    case gone
    /// The keeper of the app's processes was killed: those that were not seen cannot be told from others any more.
    case keeperEnded
    /// The memory that the processes have to themselves, in bytes.
    case memoryMeasured(UInt64)
}

/// An error of the system. The core decides nothing by it, and hands it on to those who are told; the shell, which made it, has the
/// words.
public struct SystemFailure: Sendable, Equatable {
    /// The error.
    public let error: any Error & Hashable

    /// Creates a failure.
    ///
    /// - Parameter error: The error.
    public init(_ error: any Error & Hashable) {
        self.error = error
    }

    /// Returns whether both are the same error.
    public static func == (left: Self, right: Self) -> Bool { AnyHashable(left.error) == AnyHashable(right.error) }
}

/// How short the machine's memory is.
public struct MemoryShortage: Sendable, Equatable {
    /// The level that is reached.
    public let level: MemoryLevel
    /// The time in which some task waited for memory, in hundredths of a percent of the last ten seconds.
    public let someWaited: UInt64
    /// The time in which all tasks waited for memory, in hundredths of a percent of the last ten seconds.
    public let allWaited: UInt64
    /// The memory that is available without swapping, in bytes; nil if it is not known.
    public let available: UInt64?

    /// Creates a report.
    ///
    /// - Parameters:
    ///   - level: The level that is reached.
    ///   - someWaited: The waiting of some task, in hundredths of a percent of the last ten seconds.
    ///   - allWaited: The waiting of all tasks, in hundredths of a percent of the last ten seconds.
    ///   - available: The available memory in bytes; nil if it is not known.
    public init(_ level: MemoryLevel, someWaited: UInt64 = 0, allWaited: UInt64 = 0, available: UInt64? = nil) {
        (self.level, self.someWaited, self.allWaited, self.available) = (level, someWaited, allWaited, available)
    }
}

/// A message from a connected app.
public enum AppMessage: Sendable, Equatable {
    /// The app is connected from now on.
    case hello
    /// The app has handled the callback with this number.
    case done(sequence: UInt64, AppAnswer = .plain)
    /// The app begins a background task; the number is its own.
    case beginTask(UInt64, name: String)
    /// The app begins an activity of a background mode; the number is its own.
    case beginActivity(UInt64, mode: String)
    /// The task or activity with this number is over.
    case endAssertion(UInt64)
    /// The app asks for the time that its tasks have left.
    case timeLeft
    /// The app asks for a scene in the foreground, or in its own state: a new one, or the one of this name.
    case openScene(SceneID?, role: String?, info: String?)
    /// The app closes a scene.
    case closeScene(SceneID)
    /// The text that is returned with a scene when it is connected again; nil for none.
    case sceneInfo(SceneID, String?)
    /// The channel is closed.
    case closed
    /// The app has a channel again after a restart of the daemon; the number of the last callback that it received.
    case reconnected(lastSequence: UInt64)
}
