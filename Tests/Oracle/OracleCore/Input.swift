/// Everything the core can be told. Any input is handled in any state, and none ever fails.
public enum Input: Sendable {
    /// The daemon is ready; the home app may come forward.
    case start
    /// The settings, at the start and after a reload.
    case configure(Settings)
    /// An app that may be launched from now on, or whose policy has changed.
    case define(AppID, Policy)
    /// An app that no manifest describes any more; one that runs is kept until it ends.
    case forget(AppID)
    /// How an app ended when there was another daemon, where nothing later is known.
    case remember(AppID, ExitRecord)
    /// Somebody wants something, and is answered by exactly one ``Effect/reply(_:_:)``.
    case request(RequestID, Request)
    /// It is time for scheduled work of an app.
    case wake(AppID, kind: String)
    /// These apps, and no others, are used in this way; those that are not known are left out.
    case use(Use, Set<AppID>)
    /// The daemon is stopping: every app is to end.
    case shutDown
    /// The outcome of an effect, or something that happened to an app's processes.
    case outcome(AppID, Outcome)
    /// Something that an app said over its channel.
    case message(AppID, AppMessage)
    /// The apps of a restored machine have their processes and channels again; what was under way goes on.
    case takeOver
    /// How short memory is, and in words for people how that shows.
    case memoryPressure(MemoryLevel, String)
    /// The outcome of ``Effect/lookAtMemory(after:atOnce:)``: how short memory is now, and the bytes that the app has given back.
    case memoryLookedAt(MemoryLevel, String, freed: UInt64?)
    /// Time has passed; the earliest deadline is acted upon, if it is due.
    case tick
}

/// What became of an effect, or what happened to an app's processes without one.
public enum Outcome: Sendable, Equatable {
    /// The app's program runs.
    case spawned
    /// The app's program could not be started.
    case spawnFailed(StartFailure)
    /// Every process of the tree is seen stopped.
    case stopped
    /// Some process will not stop yet; which, in words for people. The attempt goes on.
    case stopIncomplete(String)
    /// Every process of the tree was continued.
    case resumed
    /// Somebody else continued a process of a stopped tree.
    case resumedByOther
    /// Somebody else stopped the main process.
    case stoppedByOther
    /// The main process ended. Where none of its tree is left, ``gone`` is not sent any more.
    case exited(ExitStatus, othersLeft: Bool)
    /// The last process of the tree is gone.
    case gone
}

/// What an app that listens says.
public enum AppMessage: Sendable, Equatable {
    /// It listens from now on.
    case hello
    /// It has done what the callback with this number asked.
    case done(sequence: UInt64, AppAnswer = .plain)
    /// It has something to finish in the background; the number is its own.
    case beginTask(UInt64, name: String)
    /// Something of the given kind goes on in the background; the number is its own.
    case beginActivity(UInt64, mode: String)
    /// The task or activity with this number is over.
    case endHold(UInt64)
    /// It asks how much time its tasks have left.
    case timeLeft
    /// It wants a scene in front, or where it is itself: a new one, or the one of this name.
    case openScene(SceneID?, role: String?, info: String?)
    /// It wants to be rid of a scene.
    case closeScene(SceneID)
    /// What is to be given back with a scene when that is connected again; nil for nothing.
    case sceneInfo(SceneID, String?)
    /// It does not listen any more: the channel is closed.
    case closed
    /// It has a channel again after the machine was restored; the number of the last callback that it has had.
    case back(lastSequence: UInt64)
}
