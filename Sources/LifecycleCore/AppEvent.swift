/// Something that an app is told beside its life cycle, and that it answers like a callback.
public enum AppEvent: Sendable, Equatable {
    /// There is something to open; its MIME type and the id of the app that asks, where these are known.
    case openURL(String, type: String? = nil, source: String? = nil)
    /// A person goes on here with what was begun elsewhere: the kind of activity, and a JSON text about it.
    case continueActivity(type: String, info: String = "")
    /// There is work to do out of sight: of what kind, and what there is to know for it.
    case performTask(kind: String, payload: String = "")
    /// Memory is running short.
    case memoryWarning
    /// The session is about to be locked.
    case protectedDataWillBecomeUnavailable
    /// The session was unlocked.
    case protectedDataDidBecomeAvailable
    /// The clock was set, the time zone is another one, or a day has begun.
    case significantTimeChange

    /// The callback that tells the app.
    public var callback: Callback {
        switch self {
        case .openURL: .openURL
        case .continueActivity: .continueActivity
        case .performTask: .performTask
        case .memoryWarning: .memoryWarning
        case .protectedDataWillBecomeUnavailable: .protectedDataWillBecomeUnavailable
        case .protectedDataDidBecomeAvailable: .protectedDataDidBecomeAvailable
        case .significantTimeChange: .significantTimeChange
        }
    }

    /// Whether each of its kind matters, and somebody may wait for what becomes of it.
    public var isErrand: Bool {
        switch self {
        case .openURL, .continueActivity, .performTask: true
        default: false
        }
    }

    /// Whether it is something for the app in front.
    var isForFront: Bool {
        switch self {
        case .openURL, .continueActivity: true
        default: false
        }
    }

    /// Whether it is work, which goes on beside the callbacks.
    var isTask: Bool {
        if case .performTask = self { true } else { false }
    }

    /// What is to be opened, if anything.
    var url: String? {
        if case .openURL(let url, _, _) = self { url } else { nil }
    }

    /// What the app's answer means for it.
    func outcome(of answer: AppAnswer) -> EventOutcome {
        switch (self, answer) {
        case (.performTask, .result(let result)): EventOutcome(result)
        case (.performTask, _): .noData
        // One that does not know the callback gives a plain answer.
        case (.openURL, .handled(true)), (.continueActivity, .handled(true)): .handled
        case (.openURL, _), (.continueActivity, _): .declined
        default: .handled
        }
    }
}

/// What an app says when it is done with a callback.
public enum AppAnswer: Sendable, Equatable {
    /// No more than that.
    case plain
    /// Whether it can open what it was launched for, or has taken what it was given.
    case handled(Bool)
    /// What became of a task.
    case result(TaskResult)
}

/// What became of a task that an app was told to perform.
public enum TaskResult: String, Sendable {
    /// There is something new.
    case newData = "new-data"
    /// There is nothing new.
    case noData = "no-data"
    /// It could not be done.
    case failed
}

/// What became of an event.
public enum EventOutcome: String, Sendable, CaseIterable {
    /// The app has taken it.
    case handled
    /// The app does not want it, or cannot use it.
    case declined
    /// The app did not answer in time.
    case unanswered
    /// The app does not listen, so that nobody can tell it.
    case notListening = "not-listening"
    /// The app ended first.
    case lost
    /// A task has brought something new.
    case newData = "new-data"
    /// A task has brought nothing new.
    case noData = "no-data"
    /// A task could not be done.
    case failed

    init(_ result: TaskResult) {
        self =
            switch result {
            case .newData: .newData
            case .noData: .noData
            case .failed: .failed
            }
    }
}

/// An event with the number by which an app's events are told apart.
public struct QueuedEvent: Sendable, Equatable {
    let number: UInt64
    /// What the app is told.
    public let event: AppEvent
}
