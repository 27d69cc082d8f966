internal import AppChannel
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
