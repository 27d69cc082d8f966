internal import AppChannel
internal import CMainQueue
internal import Dispatch
internal import Glibc
internal import LifecycleClient
internal import LifecycleTypes

/// The app of this process.
///
/// An app without a main loop calls `run(delegate:)`; an `async` app awaits the method of the same name. An app with a main
/// loop calls `start(delegate:)`, polls `fileDescriptor`, and calls `dispatch()` when it is readable.
///
/// A process that lifed did not launch gets the callbacks of an app that is launched to the foreground and stays there. With
/// `LIFECYCLE_VERBOSE` in the environment it notes that once on standard error.
@MainActor
public final class Application {
    /// The states of an app that it can see: while it is suspended, it does not run.
    public enum State: Hashable, Sendable {
        /// In the foreground and in use.
        case active
        /// In the foreground, without events: during launch, an interruption, or a change.
        case inactive
        /// In the background, before the suspension.
        case background
    }

    /// The handling of SIGTERM.
    public enum Termination: Sendable {
        /// The library calls `applicationWillTerminate(_:)` and exits.
        case exits
        /// The app handles SIGTERM.
        case leftToTheApp
    }

    /// The app of this process.
    public static let shared = Application()

    /// The delegate, which gets each event first. A strong reference.
    public private(set) var delegate: (any ApplicationDelegate)?

    /// The sessions of the scenes that this process has heard of and that are not closed for good.
    public internal(set) var openSessions: [SceneSession] = []

    private(set) var client: Client?
    var scenes: [SceneID: Scene] = [:]
    var expirationHandlers: [AssertionID: @MainActor () -> Void] = [:]
    var refusalHandlers: [AssertionID: @MainActor (ActivityRefusal) -> Void] = [:]
    let observers = Observers()
    private var isDispatching = false
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

    /// A Boolean value that indicates whether lifed manages the app: lifed launched it, and has not released it.
    public var isManaged: Bool { client?.isManaged ?? false }

    /// The app's events from now on, for observers that the app does not wait for. The events of the launch are among them if
    /// an observer reads this property before the start.
    public var events: ApplicationEvents { observers.add() }

    /// Starts the life cycle of this process, for an app with a main loop of its own. The first events come with
    /// `dispatch()`.
    ///
    /// Removes `LIFECYCLE_FD` and `LIFECYCLE_SOCKET` from the environment, and closes the descriptor of the former on
    /// `execve`, so that a child does not take itself for the app.
    ///
    /// - Parameters:
    ///   - delegate: The delegate, which is held strongly.
    ///   - termination: The handling of SIGTERM. Children do not inherit it.
    /// - Throws: ``ApplicationError`` if the life cycle was started before, or the system has no descriptors left. Nothing has
    ///   changed then, and the app can try again.
    public func start(
        delegate: (any ApplicationDelegate)? = nil, termination: Termination = .exits
    ) throws(ApplicationError) {
        guard client == nil else { throw .alreadyStarted }
        do throws(SystemError) {
            let client = try Client.forThisProcess(
                termination == .exits ? .caught : .leftToTheApp, usesScenes: delegate?.usesScenes ?? false)
            adopt(client, delegate)
        } catch {
            throw .system(code: error.code)
        }
    }

    func adopt(_ client: Client, _ delegate: (any ApplicationDelegate)?) {
        self.client = client
        self.delegate = delegate
    }

    /// Stops the life cycle: no events follow, and SIGTERM has its former handling. An `async` `run` returns, the `run` that
    /// never returns serves the main queue alone.
    public func stop() {
        client?.close()
        client = nil
        delegate = nil
        expirationHandlers = [:]
        refusalHandlers = [:]
        openSessions = []
        scenes = [:]
        end?.finish()
        end = nil
    }

    /// Has a stream that ends with the life cycle that the app has at present.
    func finishWhenStopped(_ stream: AsyncStream<Never>.Continuation) {
        end = stream
    }

    /// The descriptor to poll for input, which stays the same.
    ///
    /// - Precondition: The app was started.
    public var fileDescriptor: CInt {
        guard let client else { preconditionFailure("The app has not been started.") }
        return client.fileDescriptor
    }

    /// Delivers the events that have come, without waiting. A call from within a method of the delegate does nothing.
    ///
    /// After a restart of lifed, this method connects again. Meanwhile the state of the app stays as it is, and its requests
    /// wait.
    public func dispatch() {
        guard let client, !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        client.receive()
        // The delegate may stop the app.
        while self.client === client, let event = client.nextEvent() { deliver(event, of: client) }
    }
}

/// The error that an app cannot take up its life cycle.
public enum ApplicationError: Error, Hashable, Sendable {
    /// It was taken up already. There is one in a process.
    case alreadyStarted
    /// The system has no descriptors or memory left: EMFILE, ENFILE or ENOMEM.
    case system(code: CInt)
}

extension ApplicationError: CustomStringConvertible {
    /// The error as a sentence.
    public var description: String {
        switch self {
        case .alreadyStarted: "The life cycle of this process was taken up already."
        case .system(let code): "The life cycle cannot be taken up: \(Self.text(of: code))."
        }
    }

    private static func text(of code: CInt) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

extension Application {
    /// Runs the app on the main thread, with the main actor and the main dispatch queue, for a `main` that is not `async`.
    ///
    /// If the system has no descriptors left, the process writes a message and exits.
    @available(*, noasync, message: "await the method of the same name")
    public func run(delegate: any ApplicationDelegate) -> Never {
        do throws(ApplicationError) {
            try start(delegate: delegate)
        } catch {
            let message = Array("\(error.description)\n".utf8)
            _ = unsafe write(STDERR_FILENO, message, message.count)
            exit(EXIT_FAILURE)
        }
        var items = [
            pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: lifecycle_main_queue_descriptor(), events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // The delegate may have stopped the life cycle. poll(2) ignores -1; a closed descriptor would always be ready.
            items[0].fd = client?.fileDescriptor ?? -1
            guard unsafe poll(&items, nfds_t(items.count), -1) > 0 else { continue }
            if items[0].revents != 0 { dispatch() }
            if items[1].revents != 0 { lifecycle_main_queue_drain() }
        }
    }

    /// Runs the app until the task is cancelled or the app calls `stop()`. The life cycle is stopped afterwards.
    ///
    /// - Throws: ``ApplicationError``, as `start(delegate:termination:)` does.
    public func run(delegate: (any ApplicationDelegate)? = nil, termination: Termination = .exits)
        async throws(ApplicationError)
    {
        try start(delegate: delegate, termination: termination)
        let client = client
        let (life, end) = AsyncStream.makeStream(of: Never.self)
        finishWhenStopped(end)
        let source = DispatchSource.makeReadSource(fileDescriptor: fileDescriptor, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated { Application.shared.dispatch() } }
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

extension Application {
    /// Delivers an event to the delegate, then to the observers, and answers it.
    func deliver(_ event: SessionEvent, of client: Client) {
        switch event {
        case .callback(let callback):
            let answer = deliver(callback, of: client)
            if let answer, self.client === client { client.answer(callback, answer) }
        case .expire(let id, _):
            expirationHandlers.removeValue(forKey: id)?()
        case .refused(let id, let reason):
            // A task that gets no time has none left.
            expirationHandlers.removeValue(forKey: id)?()
            refusalHandlers.removeValue(forKey: id)?(ActivityRefusal(rawValue: reason.rawValue))
        case .terminate:
            delegate?.applicationWillTerminate(self)
            observers.send(.willTerminate)
            exit(0)
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

    func perform(_ callback: CallbackMessage, of client: Client) -> AppAnswer? {
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
