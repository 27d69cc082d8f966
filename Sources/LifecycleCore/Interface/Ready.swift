/// What an input leads to. The caller saves the changed records, and then performs the fields in their order.
///
/// An index is valid until all fields are performed, also if the input forgets its app.
public struct Ready: Sendable, Equatable {
    /// What has happened, in its order. The end of an app precedes the operation that launches it again.
    public internal(set) var announcements: [Announcement] = []
    /// The ends of requests. They are sent when no input is left: a reply promises the effect.
    public internal(set) var replies: [Answer] = []
    /// What connected apps are told. An app that is about to be stopped still runs; the socket of one that is about to be resumed
    /// holds the message.
    public internal(set) var messages: [Message] = []
    /// What is done to processes, and to find out about memory.
    public internal(set) var operations: [Operation] = []
    /// The apps that are not known any more.
    public internal(set) var forgotten: [Forgotten] = []
    /// True if a shutDown is over: no app runs any more.
    public internal(set) var isFinished = false

    /// The end of a request. Each request is answered exactly once.
    public struct Answer: Sendable, Equatable {
        /// The request.
        public let request: RequestID
        /// The reply.
        public let reply: Reply
    }

    /// A message to a connected app.
    public enum Message: Sendable, Equatable {
        /// A callback; answered by done with the same number.
        case deliver(AppIndex, Delivery)
        /// A task or activity is granted, or refused for this reason.
        case answerAssertion(AppIndex, UInt64, AssertionRefusal?)
        /// The time of the tasks ends then; nil if it does not run.
        case tellTimeLeft(AppIndex, until: Instant?)
        /// A task has expired, and must be ended until then.
        case expireTask(AppIndex, UInt64, deadline: Instant)
    }

    /// An operation; its outcome is a later ``Input``.
    public enum Operation: Sendable, Equatable {
        /// Start the app's program; answered by spawned or spawnFailed.
        case spawn(AppIndex)
        /// Stop every process of the tree; answered by stopped, perhaps after stopIncomplete. Ends a pending resume.
        case stop(AppIndex)
        /// Continue every process of the tree; answered by resumed. Ends a pending stop.
        case resume(AppIndex)
        /// SIGTERM to the main process, or to all if the app's policy says so, then SIGCONT to the tree; SIGTERM to the others when
        /// the main process has ended. Answered by exited and gone. Ends a pending stop.
        case terminate(AppIndex)
        /// SIGKILL to the tree until none is left; answered by exited and gone.
        case kill(AppIndex)
        /// Measure the memory of an app that is about to be reclaimed; answered by ``Outcome/memoryMeasured(_:)``, if it can be.
        case measureMemory(AppIndex)
        /// Note the waiting for memory up to now: what is read next is the waiting since then.
        case markMemory
        /// Read how short memory is since it was marked; answered by ``Input/memory(_:)``.
        case readMemory
    }

    /// An app that is not known any more.
    public struct Forgotten: Sendable, Equatable {
        /// The app.
        public let app: AppIndex
        /// Its last exit; nil if it has not ended.
        public let exit: ExitRecord?
        /// The reason for which it was reclaimed, if it was.
        public let reclaimed: ReclaimRecord?
    }

    /// Creates what an input without consequences leads to.
    package init() {}

    mutating func answer(_ request: RequestID, _ reply: Reply) {
        replies.append(Answer(request: request, reply: reply))
    }
}

/// A callback on its way to an app.
public struct Delivery: Sendable, Equatable {
    /// The subject of a callback, beside the callback itself.
    public indirect enum Subject: Sendable, Equatable {
        /// The launch, with a launch callback.
        case launch(Launch)
        /// The event, with its callback.
        case event(QueuedEvent)
        /// The reason of the connection or disconnection of a scene.
        case scene(SceneReason)
    }

    /// The number of the callback, unique for the app.
    public let sequence: UInt64
    /// The callback, with the scene that it is about.
    let pending: PendingCallback
    /// The state of the app while it handles the callback.
    public let state: AppState
    /// The instant at which the daemon goes on without the answer, or acts upon its absence.
    public internal(set) var deadline: Instant
    /// The subject, if the callback has one.
    public internal(set) var subject: Subject?
    /// The time of the app's background tasks, with didEnterBackground.
    public internal(set) var taskTime: Duration?

    /// The callback.
    public var callback: Callback { pending.callback }

    /// The launch, with a launch callback.
    public var launch: Launch? { if case .launch(let launch) = subject { launch } else { nil } }

    /// The event that the callback delivers.
    public var event: QueuedEvent? { if case .event(let event) = subject { event } else { nil } }

    /// The scene that the callback is about.
    public var scene: SceneNews? { pending.scene.map { SceneNews(scene: $0, reason: sceneReason) } }

    /// The reason of the connection or disconnection of the scene.
    var sceneReason: SceneReason? { if case .scene(let reason) = subject { reason } else { nil } }
}

/// The launch of an app, and its previous end.
public struct Launch: Sendable, Equatable {
    /// The reason of the launch.
    public let reason: Reason
    /// The previous end, if the app ran before.
    public let previous: ExitRecord?
    /// The URL that the app was launched to open, if any.
    public var url: String?

    /// True if the system ended the app before: then it restores its state.
    public var restores: Bool { previous?.callsForRestoration ?? false }
}

/// The scene that a callback is about.
public struct SceneNews: Sendable, Equatable {
    /// The scene.
    public let scene: SceneID
    /// The reason of a connection or disconnection; nil for another callback.
    public let reason: SceneReason?
}
