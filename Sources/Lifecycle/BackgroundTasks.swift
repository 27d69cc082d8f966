internal import AppChannel
internal import LifecycleClient

extension Application {
    /// How long the app may still run out of sight, or nil when nothing limits it at present.
    ///
    /// This is what lifed said last. Each look asks lifed again, so that a later one finds what has changed meanwhile.
    public var backgroundTimeRemaining: Duration? {
        client?.backgroundMillisecondsRemaining.map { .milliseconds($0) }
    }

    /// Asks for time to finish something out of sight: up to 30 s for all tasks together, counted from when the app went
    /// there. To be asked for before the work starts, in front or in `applicationDidEnterBackground(_:)`.
    ///
    /// The name is for the person who looks at what keeps the app awake; its first 128 bytes count. When the time is up, or
    /// when lifed refuses to give any, the handler is called, which has to end the task within 5 s: the library does not,
    /// and the app is killed when it is not done. `.invalid` when the app was not started.
    public func beginBackgroundTask(
        withName name: String? = nil, expirationHandler: (@MainActor () -> Void)? = nil
    ) -> BackgroundTaskIdentifier {
        guard let client else { return .invalid }
        let id = client.beginTask(name: name ?? "task")
        expirationHandlers[id] = expirationHandler
        return BackgroundTaskIdentifier(id: id)
    }

    /// The task is done. One that has ended already is left alone.
    public func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {
        guard let id = identifier.id else { return }
        expirationHandlers[id] = nil
        client?.endTask(id)
    }

    /// Says that something goes on out of sight for as long as it lasts. The app is not suspended meanwhile.
    ///
    /// When lifed refuses, because the manifest does not declare the mode or there are too many, the handler is called and
    /// the activity is over. `.invalid` when the app was not started.
    public func beginActivity(
        _ mode: BackgroundMode, refusalHandler: (@MainActor (ActivityRefusal) -> Void)? = nil
    ) -> ActivityIdentifier {
        guard let client else { return .invalid }
        let id = client.beginActivity(mode: mode.rawValue)
        refusalHandlers[id] = refusalHandler
        return ActivityIdentifier(id: id)
    }

    /// The activity is over. One that has ended already is left alone.
    public func endActivity(_ identifier: ActivityIdentifier) {
        guard let id = identifier.id else { return }
        refusalHandlers[id] = nil
        client?.endActivity(id)
    }
}

/// A task that was begun with `Application.beginBackgroundTask(withName:expirationHandler:)`.
public struct BackgroundTaskIdentifier: Hashable, Sendable {
    let id: AssertionID?

    /// No task. Ending it does nothing.
    public static let invalid = BackgroundTaskIdentifier(id: nil)
}

/// An activity that was begun with `Application.beginActivity(_:refusalHandler:)`.
public struct ActivityIdentifier: Hashable, Sendable {
    let id: AssertionID?

    /// No activity. Ending it does nothing.
    public static let invalid = ActivityIdentifier(id: nil)
}

/// What goes on out of sight. An app's manifest declares its modes with `backgroundModes`.
public struct BackgroundMode: RawRepresentable, Hashable, Sendable {
    /// The word in the manifest.
    public let rawValue: String

    /// The mode with this word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Something is heard.
    public static let audio = BackgroundMode(rawValue: "audio")
    /// The place is followed.
    public static let location = BackgroundMode(rawValue: "location")
    /// Something new is looked for.
    public static let fetch = BackgroundMode(rawValue: "fetch")
    /// Something long is computed.
    public static let processing = BackgroundMode(rawValue: "processing")
}

/// Why an activity does not hold the app in the background. The list is open.
public struct ActivityRefusal: RawRepresentable, Error, Hashable, Sendable {
    /// lifed's word for the reason.
    public let rawValue: String

    /// The reason with this word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The app's manifest does not declare the mode.
    public static let modeNotDeclared = ActivityRefusal(rawValue: RefusalReason.modeNotDeclared.rawValue)
    /// The app has as many tasks and activities as it may have.
    public static let tooManyTasks = ActivityRefusal(rawValue: RefusalReason.tooManyTasks.rawValue)
}
