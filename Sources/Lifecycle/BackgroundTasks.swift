internal import AppChannel
internal import LifecycleClient
internal import LifecycleTypes

extension LifecycleApplication {
    /// The time that the app may still run in the background; nil without a limit.
    ///
    /// The last value from lifed. Each read requests another one.
    public var backgroundTimeRemaining: Duration? {
        client?.backgroundMillisecondsRemaining.map { .milliseconds($0) }
    }

    /// Begins a background task: up to 30 s for all tasks together, from the time at which the app enters the background. The
    /// time rests while something without a limit keeps the app running. The app calls this before the work starts, in the
    /// foreground or in `applicationDidEnterBackground(_:)`.
    ///
    /// - Parameters:
    ///   - name: The name of the task for users; its first 128 bytes count.
    ///   - expirationHandler: A function that has to end the task within 5 s, otherwise lifed kills the app. It is called when
    ///     the time expires, or when lifed refuses the task.
    /// - Returns: The task; `.invalid` if the app was not started.
    public func beginBackgroundTask(
        withName name: String? = nil, expirationHandler: (@MainActor () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        guard let client else { return .invalid }
        let id = client.beginTask(name: name ?? "task")
        expirationHandlers[id] = expirationHandler
        return BackgroundTaskIdentifier(id: id)
    }

    /// Ends a task. A task that has ended is ignored.
    ///
    /// - Parameter identifier: The result of `beginBackgroundTask(withName:expirationHandler:)`.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        guard let id = identifier.id else { return }
        expirationHandlers[id] = nil
        client?.endTask(id)
    }

    /// Begins an activity, during which lifed does not suspend the app.
    ///
    /// - Parameters:
    ///   - mode: The background mode, which the manifest must declare.
    ///   - refusalHandler: A function that is called when lifed refuses the activity, which has ended then.
    /// - Returns: The activity; `.invalid` if the app was not started.
    public func beginActivity(
        _ mode: BackgroundMode, refusalHandler: (@MainActor (ActivityRefusal) -> Void)? = nil
    ) -> ActivityIdentifier {
        guard let client else { return .invalid }
        let id = client.beginActivity(mode: mode.rawValue)
        refusalHandlers[id] = refusalHandler
        return ActivityIdentifier(id: id)
    }

    /// Ends an activity. An activity that has ended is ignored.
    ///
    /// - Parameter identifier: The result of `beginActivity(_:refusalHandler:)`.
    public func endActivity(_ identifier: ActivityIdentifier) {
        guard let id = identifier.id else { return }
        refusalHandlers[id] = nil
        client?.endActivity(id)
    }
}

/// A task that was begun with `LifecycleApplication.beginBackgroundTask(withName:expirationHandler:)`.
public struct BackgroundTaskIdentifier: Hashable, Sendable {
    let id: AssertionID?

    /// No task. Ending it does nothing.
    public static let invalid = BackgroundTaskIdentifier(id: nil)
}

/// An activity that was begun with `LifecycleApplication.beginActivity(_:refusalHandler:)`.
public struct ActivityIdentifier: Hashable, Sendable {
    let id: AssertionID?

    /// No activity. Ending it does nothing.
    public static let invalid = ActivityIdentifier(id: nil)
}

/// A background mode. An app's manifest declares its modes with `backgroundModes`.
public struct BackgroundMode: RawRepresentable, Hashable, Sendable {
    /// The word in the manifest.
    public let rawValue: String

    /// Creates the mode of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Sound plays.
    public static let audio = BackgroundMode(rawValue: "audio")
    /// The location is tracked.
    public static let location = BackgroundMode(rawValue: "location")
    /// New data is fetched.
    public static let fetch = BackgroundMode(rawValue: "fetch")
    /// A long computation runs.
    public static let processing = BackgroundMode(rawValue: "processing")
}

/// The reason why an activity does not keep the app running in the background. The list is open.
public struct ActivityRefusal: RawRepresentable, Error, Hashable, Sendable {
    /// The word of the app protocol.
    public let rawValue: String

    /// Creates the reason of a word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The app's manifest does not declare the mode.
    public static let modeNotDeclared = ActivityRefusal(rawValue: AssertionRefusal.undeclared.rawValue)
    /// The app has as many tasks and activities as it may have.
    public static let tooManyTasks = ActivityRefusal(rawValue: AssertionRefusal.tooMany.rawValue)
}
