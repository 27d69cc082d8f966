internal import AppChannel

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
