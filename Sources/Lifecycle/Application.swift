internal import AppChannel
internal import CMainQueue
internal import Dispatch
internal import Glibc
internal import LifecycleClient

/// The app that this process is.
///
/// There are three ways to keep it going. An app whose main thread has nothing else to do gives it away with
/// `run(delegate:)`. One that is `async` from the start awaits the method of the same name. One that has a loop of its own
/// calls `start(delegate:)`, polls `fileDescriptor`, and calls `dispatch()` when it is readable.
///
/// A process that was not launched by lifed is told the same as one that is launched to the front and stays there. With
/// `LIFECYCLE_VERBOSE` in the environment it says so once on standard error.
@MainActor
public final class Application {
    /// Where an app is, as far as it can see. While it is suspended it does not run, and so never sees that.
    public enum State: Hashable, Sendable {
        /// In front and in use.
        case active
        /// In front and not in use: being launched, interrupted, or about to leave.
        case inactive
        /// Out of sight, and about to be suspended.
        case background
    }

    /// What the library makes of SIGTERM.
    public enum Termination: Sendable {
        /// It calls `applicationWillTerminate(_:)` and exits.
        case exits
        /// Nothing: the app, or a library that it uses, has a way of its own to shut down.
        case leftToTheApp
    }

    /// The app that this process is.
    public static let shared = Application()

    /// Whom the app's events go to first. Held strongly.
    public private(set) var delegate: (any ApplicationDelegate)?

    /// What is kept of the scenes that this process has heard of and that are not closed for good.
    public internal(set) var openSessions: [SceneSession] = []

    private(set) var client: Client?
    var scenes: [SceneID: Scene] = [:]
    var expirationHandlers: [AssertionID: @MainActor () -> Void] = [:]
    var refusalHandlers: [AssertionID: @MainActor (ActivityRefusal) -> Void] = [:]
    let observers = Observers()
    private var isDispatching = false
    /// For whoever waits until the life cycle is given up.
    private var end: AsyncStream<Never>.Continuation?

    init() {}

    /// The state that the app is in; inactive until it is told otherwise.
    public var applicationState: State {
        switch client?.state {
        case .active: .active
        case .background: .background
        case .inactive, nil: .inactive
        }
    }

    /// Whether lifed decides over the app; false when it was not launched by lifed, or lifed has let go of it.
    public var isManaged: Bool { client?.isManaged ?? false }

    /// The app's events from now on, for those who do not have to be waited for. To be asked for before the app is started
    /// by those who want to hear of its launch.
    public var events: ApplicationEvents { observers.add() }

    /// Takes up the life cycle of this process, for an app that has a loop of its own. The first events come with
    /// `dispatch()`.
    ///
    /// Catches SIGTERM unless told to leave it; programs that the app starts do not inherit that. Takes `LIFECYCLE_FD` and
    /// `LIFECYCLE_SOCKET` out of the environment and closes the descriptor that the former names on `execve`, so that they
    /// do not take themselves for the app. Throws an `ApplicationError` when the life cycle was taken up already, or the system has no
    /// descriptors left; then nothing has changed, and it can be tried again.
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

    /// Gives the life cycle up: nothing is told any more, and SIGTERM does what it did before. An `async` `run` returns,
    /// the one that is `Never` goes on with the main queue alone.
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

    /// A descriptor to poll for input in a loop of any kind; it stays the same. The app must have been started.
    public var fileDescriptor: CInt {
        guard let client else { preconditionFailure("The app has not been started.") }
        return client.fileDescriptor
    }

    /// Tells the app what there is to tell, if anything. Never waits. From within a method of the delegate it does nothing.
    ///
    /// When lifed dies and is started again, this finds it again and goes on where it was. Meanwhile the app stays as it is,
    /// and what it asks for waits.
    public func dispatch() {
        guard let client, !isDispatching else { return }
        isDispatching = true
        defer { isDispatching = false }
        client.receive()
        // The delegate may stop the app.
        while self.client === client, let event = client.nextEvent() { deliver(event, of: client) }
    }
}

/// Why an app cannot take up its life cycle.
public enum ApplicationError: Error, Hashable, Sendable {
    /// It was taken up already. There is one in a process.
    case alreadyStarted
    /// The system has no descriptors or memory left: EMFILE, ENFILE or ENOMEM.
    case system(code: CInt)
}

extension ApplicationError: CustomStringConvertible {
    /// A sentence that says why.
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
    /// Gives the main thread to the app, for good: tells the delegate what there is to tell, and does the work of the main
    /// actor and of the main dispatch queue meanwhile.
    ///
    /// For a `main` that is not `async`. A process that cannot have the few descriptors needed says so and exits.
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
            // The delegate may have given the life cycle up, and what is not there is left out: it would be ready all the time.
            items[0].fd = client?.fileDescriptor ?? -1
            guard unsafe poll(&items, nfds_t(items.count), -1) > 0 else { continue }
            if items[0].revents != 0 { dispatch() }
            if items[1].revents != 0 { lifecycle_main_queue_drain() }
        }
    }

    /// Tells the delegate what there is to tell, until the task is cancelled or the app gives its life cycle up
    /// with `stop()`. Either way it is given up when this returns.
    ///
    /// Throws an `ApplicationError` like `start(delegate:termination:)`.
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
        // Whoever has stopped the app may have started it anew.
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
    /// Tells the delegate, then the observers, and then lifed that it was done.
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
            observers.tell(.willTerminate)
            exit(0)
        }
    }

    /// The answer, or nil when it comes later.
    private func deliver(_ callback: CallbackMessage, of client: Client) -> CallbackAnswer? {
        switch callback.kind {
        case .willFinishLaunching, .didFinishLaunching: launch(callback)
        case .openURL: open(OpenURLFields(callback.fields))
        case .continueActivity: takeUp(UserActivity(ContinueActivityFields(callback.fields)))
        case .performTask: perform(callback, of: client)
        case .didBecomeActive: tell(.didBecomeActive) { $0.applicationDidBecomeActive(self) }
        case .willResignActive: tell(.willResignActive) { $0.applicationWillResignActive(self) }
        case .didEnterBackground: tell(.didEnterBackground) { $0.applicationDidEnterBackground(self) }
        case .willEnterForeground: tell(.willEnterForeground) { $0.applicationWillEnterForeground(self) }
        case .didReceiveMemoryWarning: tell(.didReceiveMemoryWarning) { $0.applicationDidReceiveMemoryWarning(self) }
        case .protectedDataWillBecomeUnavailable:
            tell(.protectedDataWillBecomeUnavailable) { $0.applicationProtectedDataWillBecomeUnavailable(self) }
        case .protectedDataDidBecomeAvailable:
            tell(.protectedDataDidBecomeAvailable) { $0.applicationProtectedDataDidBecomeAvailable(self) }
        case .significantTimeChange: tell(.significantTimeChange) { $0.applicationSignificantTimeChange(self) }
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            tellScene(callback)
        }
    }

    private func tell(_ event: ApplicationEvent, _ call: (any ApplicationDelegate) -> Void) -> CallbackAnswer {
        if let delegate { call(delegate) }
        observers.tell(event)
        return .plain
    }

    private func tellScene(_ callback: CallbackMessage) -> CallbackAnswer {
        deliverToScene(callback)
        return .plain
    }

    private func launch(_ callback: CallbackMessage) -> CallbackAnswer {
        let options = LaunchOptions(LaunchFields(callback.fields))
        let handled: Bool
        if callback.kind == .willFinishLaunching {
            handled = delegate?.application(self, willFinishLaunchingWithOptions: options) ?? true
            observers.tell(.willFinishLaunching(options))
        } else {
            handled = delegate?.application(self, didFinishLaunchingWithOptions: options) ?? true
            observers.tell(.didFinishLaunching(options))
        }
        return handled ? .plain : .handled(false)
    }

    private func open(_ fields: OpenURLFields) -> CallbackAnswer {
        let options = OpenURLOptions(fields)
        let handled = delegate?.application(self, open: fields.url, options: options) ?? false
        observers.tell(.openURL(fields.url, options))
        return .handled(handled)
    }

    private func takeUp(_ activity: UserActivity) -> CallbackAnswer {
        let handled = delegate?.application(self, continue: activity) ?? false
        observers.tell(.continueActivity(activity))
        return .handled(handled)
    }

    private func perform(_ callback: CallbackMessage, of client: Client) -> CallbackAnswer? {
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
        observers.tell(.performWork(work))
        return nil
    }
}
