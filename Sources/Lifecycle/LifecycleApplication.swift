internal import AppChannel
internal import CAppClient
internal import Dispatch
internal import Glibc
internal import LifecycleClient
internal import LifecycleTypes

/// The app of this process, and its life cycle.
///
/// The type and its delegates belong to the main actor. Only `run`, ``saveRestorationState(_:)`` and ``restorationState()`` wait; see
/// <doc:RunAndTerminate>. An app that lifed did not launch connects by itself, and is in the foreground until it is adopted.
@MainActor
public final class LifecycleApplication {
    /// The states of an app that it can see: while it is suspended, it does not run.
    public enum State: Hashable, Sendable {
        /// In the foreground and in use.
        case active
        /// In the foreground, without events: during launch, an interruption, or a change.
        case inactive
        /// In the background, before the suspension.
        case background
    }

    /// The changes that the library makes to the process. Without an option, it makes none but one: the channel's descriptor
    /// is closed on `execve`.
    public struct Options: OptionSet, Hashable, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Creates the options of these bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The library handles SIGTERM: it calls ``LifecycleDelegate/applicationWillTerminate(_:)``, and `run` returns. The
        /// library never exits. After the call, SIGTERM has its former handling again. Children do not inherit the handler.
        public static let handlesSIGTERM = Options(rawValue: 1 << 0)
        /// The library removes `LIFECYCLE_FD`, `LIFECYCLE_CHANNEL`, `LIFECYCLE_SOCKET` and `LIFECYCLE_STATE_DIR` from the
        /// environment, for an app that starts programs which use the library, too. The app keeps its saved state. As for any
        /// change of the environment, no other thread may read it at that time.
        public static let removesEnvironmentVariables = Options(rawValue: 1 << 1)
    }

    /// The app of this process.
    public static let shared = LifecycleApplication()

    /// The delegate, which gets each event first. A strong reference.
    public private(set) var delegate: (any LifecycleDelegate)?

    /// The sessions of the scenes that this process has heard of and that are not closed for good.
    public internal(set) var openSessions: [SceneSession] = []

    private(set) var client: AppClient?
    var scenes: [SceneID: LifecycleScene] = [:]
    var expirationHandlers: [AssertionID: @MainActor () -> Void] = [:]
    var refusalHandlers: [AssertionID: @MainActor (ActivityRefusal) -> Void] = [:]
    let observers = Observers()
    private var isDispatching = false
    /// True from the begin of `run` to the end of the life cycle.
    private var isRunning = false
    /// Ends the wait of an `async` `run` for the end of the life cycle.
    private var end: AsyncStream<Never>.Continuation?

    init() {}

    /// The state of the app; inactive before the first callback.
    public var applicationState: State {
        switch client?.state {
        case .active: .active
        case .background: .background
        case .inactive, nil: .inactive
        }
    }

    /// A Boolean value that indicates whether lifed manages the app: lifed launched or adopted it, and has not released it.
    ///
    /// If lifed did not launch the app, the value is false until the answer of lifed.
    public var isManaged: Bool { client?.isManaged ?? false }

    /// The app's events from now on, for observers that the app does not wait for. The events of the launch are among them if
    /// an observer reads this property before the start.
    public var events: LifecycleEvents { observers.add() }

    /// Starts the life cycle of this process, for an app with a main loop of its own. The first events come with
    /// ``dispatch()``.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, which is held strongly.
    ///   - options: The changes that the library makes to the process. With ``Options/handlesSIGTERM``, the delegate has to
    ///     end the main loop.
    /// - Throws: ``LifecycleError`` if the life cycle was started before, or the system has no descriptors left. Nothing has
    ///   changed then, and the app can try again.
    public func start(
        delegate: (any LifecycleDelegate)? = nil, options: Options = []
    ) throws(LifecycleError) {
        guard client == nil else { throw .alreadyStarted }
        do throws(SystemError) {
            let client = try AppClient.forThisProcess(
                options.contains(.handlesSIGTERM) ? .caught : .leftToTheApp,
                removesVariables: options.contains(.removesEnvironmentVariables),
                usesScenes: delegate?.usesScenes ?? false)
            attach(client, delegate)
        } catch {
            throw .system(code: error.code)
        }
    }

    func attach(_ client: AppClient, _ delegate: (any LifecycleDelegate)?) {
        self.client = client
        self.delegate = delegate
    }

    /// Stops the life cycle: no events follow, `run` returns, and SIGTERM has its former handling. lifed manages the app like
    /// one without the library. The app may start the life cycle again; the channel to lifed is gone.
    public func stop() {
        client?.close()
        client = nil
        delegate = nil
        expirationHandlers = [:]
        refusalHandlers = [:]
        openSessions = []
        scenes = [:]
        isRunning = false
        end?.finish()
        end = nil
    }

    /// Has a stream that ends with the life cycle that the app has at present.
    func finishWhenStopped(_ stream: AsyncStream<Never>.Continuation) {
        end = stream
    }

    /// The descriptor to poll for input, which stays the same until ``stop()``; -1 if the app was not started.
    ///
    /// It belongs to the library: the app neither reads nor closes it.
    public var fileDescriptor: CInt { client?.fileDescriptor ?? -1 }

    /// Delivers the events that have come to the delegate, without waiting. A call from a method of the delegate does nothing.
    ///
    /// After a restart of lifed, this method connects again. Until then the app keeps its state, and its requests wait.
    public func dispatch() {
        guard let client, !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        client.receive()
        // The delegate may stop the app.
        while self.client === client, let event = client.nextEvent() { deliver(event, of: client) }
    }
}

/// The error of a life cycle that cannot be started.
public enum LifecycleError: Error, Hashable, Sendable {
    /// The life cycle was started before. A process has one.
    case alreadyStarted
    /// The system has no descriptors or memory left: EMFILE, ENFILE or ENOMEM.
    case system(code: CInt)
}

extension LifecycleError: CustomStringConvertible {
    /// The error as a sentence.
    public var description: String {
        switch self {
        case .alreadyStarted: "cannot start the life cycle: it was started before; call stop() first"
        case .system(let code): "cannot start the life cycle: \(Self.text(of: code)); close descriptors or free memory"
        }
    }

    private static func text(of code: CInt) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

extension LifecycleApplication {
    /// Runs the app on the main thread, with the main actor and the main dispatch queue, for a `main` that is not `async`.
    ///
    /// Returns after SIGTERM or ``stop()``, with the life cycle stopped. What the app does then is its own affair: a `main`
    /// that ends exits with status 0.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, which is held strongly.
    ///   - options: The changes that the library makes to the process.
    /// - Throws: ``LifecycleError``, as ``start(delegate:options:)`` does.
    @available(*, noasync, message: "await the method of the same name")
    public func run(
        delegate: any LifecycleDelegate, options: Options = .handlesSIGTERM
    ) throws(LifecycleError) {
        try start(delegate: delegate, options: options)
        isRunning = true
        // Kept until the wait is over, because it owns the descriptor.
        let client = client
        var items = [
            pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: lifecycle_main_queue_descriptor(), events: Int16(POLLIN), revents: 0),
        ]
        while isRunning, self.client === client {
            guard unsafe poll(&items, nfds_t(items.count), -1) > 0 else { continue }
            if items[0].revents != 0 { dispatch() }
            if items[1].revents != 0 { lifecycle_main_queue_run() }
        }
    }

    /// Runs the app until SIGTERM, ``stop()`` or the cancellation of the task. The life cycle is stopped afterwards.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, which is held strongly.
    ///   - options: The changes that the library makes to the process.
    /// - Throws: ``LifecycleError``, as ``start(delegate:options:)`` does.
    public func run(
        delegate: (any LifecycleDelegate)? = nil, options: Options = .handlesSIGTERM
    ) async throws(LifecycleError) {
        try start(delegate: delegate, options: options)
        isRunning = true
        let client = client
        let (life, end) = AsyncStream.makeStream(of: Never.self)
        finishWhenStopped(end)
        let source = DispatchSource.makeReadSource(fileDescriptor: fileDescriptor, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { LifecycleApplication.shared.dispatch() } }
        source.activate()
        await untilEnded(life, end)
        // The descriptor may be closed only when the source has let go of it, and so the client is kept until then.
        await withCheckedContinuation { continuation in
            source.setCancelHandler { continuation.resume() }
            source.cancel()
        }
        // The app may have been stopped and started again.
        if self.client === client { stop() }
    }

    private nonisolated func untilEnded(_ life: AsyncStream<Never>, _ end: AsyncStream<Never>.Continuation) async {
        await withTaskCancellationHandler {
            for await _ in life {}
        } onCancel: {
            end.finish()
        }
    }
}

extension LifecycleApplication {
    /// Delivers an event to the delegate, then to the observers, and answers it.
    func deliver(_ event: AppSessionEvent, of client: AppClient) {
        switch event {
        case .callback(let callback):
            let answer = deliver(callback, of: client)
            if let answer, self.client === client { client.answer(callback, answer) }
        case .expire(let id, _):
            // Kept until the task ends: it may expire again after the app was in the foreground.
            expirationHandlers[id]?()
        case .refused(let id, let reason):
            // A task that gets no time has none left.
            expirationHandlers.removeValue(forKey: id)?()
            refusalHandlers.removeValue(forKey: id)?(ActivityRefusal(rawValue: reason.rawValue))
        case .terminate:
            delegate?.applicationWillTerminate(self)
            observers.send(.willTerminate)
            guard self.client === client else { return }
            // A second SIGTERM ends an app that does not end by itself.
            client.releaseTermination()
            if isRunning { stop() }
        }
    }

    func deliverSceneCallback(_ callback: CallbackMessage) -> AppAnswer {
        deliverToScene(callback)
        return .plain
    }

    func launch(_ callback: CallbackMessage) -> AppAnswer {
        let options = LaunchOptions(LaunchFields(callback.fields))
        let handled: Bool
        if callback.kind == .willFinishLaunching {
            handled = delegate?.application(self, willFinishLaunchingWithOptions: options) ?? true
            observers.send(.willFinishLaunching(options))
        } else {
            handled = delegate?.application(self, didFinishLaunchingWithOptions: options) ?? true
            observers.send(.didFinishLaunching(options))
        }
        return handled ? .plain : .handled(false)
    }

    func open(_ fields: OpenURLFields) -> AppAnswer {
        let options = OpenURLOptions(fields)
        let handled = delegate?.application(self, open: fields.url, options: options) ?? false
        observers.send(.openURL(fields.url, options))
        return .handled(handled)
    }

    func continueActivity(_ activity: UserActivity) -> AppAnswer {
        let handled = delegate?.application(self, continue: activity) ?? false
        observers.send(.continueActivity(activity))
        return .handled(handled)
    }

    func perform(_ callback: CallbackMessage, of client: AppClient) -> AppAnswer? {
        let work = BackgroundWork(PerformTaskFields(callback.fields))
        var isDone = false
        let complete: @MainActor (BackgroundWorkResult) -> Void = { [weak self] result in
            guard !isDone, self?.client === client else { return }
            isDone = true
            client.answer(callback, result.answer)
        }
        if let delegate {
            delegate.application(self, perform: work, completionHandler: complete)
        } else {
            complete(.noData)
        }
        observers.send(.performWork(work))
        return nil
    }
}

/// The events of an app, from the read of ``LifecycleApplication/events`` on.
///
/// The app does not wait for its observers. A slow observer misses the oldest of more than 64 events.
public struct LifecycleEvents: AsyncSequence, Sendable {
    /// The type of the events.
    public typealias Element = LifecycleEvent
    /// Iteration does not fail.
    public typealias Failure = Never

    private let stream: AsyncStream<LifecycleEvent>

    init(_ stream: AsyncStream<LifecycleEvent>) {
        self.stream = stream
    }

    /// Begins an iteration.
    public func makeAsyncIterator() -> AsyncStream<LifecycleEvent>.Iterator {
        stream.makeAsyncIterator()
    }
}

/// The iterations over an app's events.
@MainActor
final class Observers {
    private static let bufferedEvents = 64

    private var continuations: [Int: AsyncStream<LifecycleEvent>.Continuation] = [:]
    private var lastKey = 0

    func add() -> LifecycleEvents {
        lastKey += 1
        let key = lastKey
        let (stream, continuation) = AsyncStream.makeStream(
            of: LifecycleEvent.self, bufferingPolicy: .bufferingNewest(Self.bufferedEvents))
        continuation.onTermination = { [weak self] _ in
            Task { @MainActor in self?.continuations[key] = nil }
        }
        continuations[key] = continuation
        return LifecycleEvents(stream)
    }

    func send(_ event: LifecycleEvent) {
        for continuation in continuations.values { continuation.yield(event) }
    }
}
