/// An event that an app is told beside its life cycle, and that it answers like a callback.
public enum AppEvent: Sendable, Equatable {
    /// A URL to open; its MIME type and the id of the app that sends it, where these are known.
    case openURL(String, type: String? = nil, source: String? = nil)
    /// An activity that was begun elsewhere: its kind, and a JSON text about it.
    case continueActivity(type: String, info: String = "")
    /// Work for the background: its kind, and a payload.
    case performTask(kind: String, payload: String = "")
    /// News without an outcome, which are a callback without fields.
    case notice(Callback)

    /// The callback that delivers the event.
    public var callback: Callback {
        switch self {
        case .openURL: .openURL
        case .continueActivity: .continueActivity
        case .performTask: .performTask
        case .notice(let callback): callback
        }
    }

    /// A Boolean value that indicates whether each event of the kind is delivered, and its outcome reported.
    public var hasOutcome: Bool { callback.needsEvent }

    /// A Boolean value that indicates whether the event is for the foreground app.
    public var isForForeground: Bool { callback == .openURL || callback == .continueActivity }

    /// A Boolean value that indicates whether the event is work, which goes on beside the callbacks.
    public var isTask: Bool { callback == .performTask }

    /// The URL to open, if any.
    public var url: String? {
        if case .openURL(let url, _, _) = self { url } else { nil }
    }

    /// The kind of work, if it is work.
    public var taskKind: String? {
        if case .performTask(let kind, _) = self { kind } else { nil }
    }

    /// Returns what the app's answer means for the event.
    public func outcome(of answer: AppAnswer) -> EventOutcome {
        switch (self, answer) {
        case (.performTask, .result(let result)): EventOutcome(result)
        case (.performTask, .plain), (.performTask, .handled): .noData
        // An app that does not know the callback gives a plain answer.
        case (.openURL, .handled(true)), (.continueActivity, .handled(true)): .handled
        case (.openURL, _), (.continueActivity, _): .declined
        case (.notice, _): .handled
        }
    }

    /// The event that cancels this one while neither was delivered.
    public var opposite: AppEvent? {
        switch self {
        case .notice(.protectedDataWillBecomeUnavailable): .notice(.protectedDataDidBecomeAvailable)
        case .notice(.protectedDataDidBecomeAvailable): .notice(.protectedDataWillBecomeUnavailable)
        case .openURL, .continueActivity, .performTask, .notice: nil
        }
    }
}

/// The answer of an app to a callback.
public enum AppAnswer: Sendable, Equatable {
    /// The callback was handled.
    case plain
    /// A launch callback or an event was answered with yes or no.
    case handled(Bool)
    /// A task ended with this result.
    case result(TaskResult)
}

/// The result of a task.
public enum TaskResult: String, Sendable, CaseIterable {
    /// There is new data.
    case newData = "new-data"
    /// There is no new data.
    case noData = "no-data"
    /// The task failed.
    case failed
}

/// The outcome of an event.
public enum EventOutcome: String, Sendable, CaseIterable {
    /// The app handled it.
    case handled
    /// The app declined it.
    case declined
    /// The app did not answer in time.
    case unanswered
    /// The app is not connected and cannot be told.
    case notListening = "not-listening"
    /// The app ended first.
    case lost
    /// A task brought new data.
    case newData = "new-data"
    /// A task brought no new data.
    case noData = "no-data"
    /// A task failed.
    case failed

    /// Creates the outcome of a task that ended with a result.
    public init(_ result: TaskResult) {
        switch result {
        case .newData: self = .newData
        case .noData: self = .noData
        case .failed: self = .failed
        }
    }
}

/// The reason for which the daemon refuses a task or an activity of an app: a word of the app protocol.
public enum AssertionRefusal: String, CaseIterable, Sendable {
    /// The app has as many tasks and activities as it may have.
    case tooMany = "too-many-tasks"
    /// The manifest does not declare the mode.
    case undeclared = "mode-not-declared"
    /// Another task or activity of the app has the number.
    case duplicate = "duplicate-id"
    /// The time for tasks is over for this stay in the background.
    case timeIsUp = "time-is-up"
}
