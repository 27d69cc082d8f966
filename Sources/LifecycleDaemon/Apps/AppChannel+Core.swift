import AppChannel
import LifecycleCore

// The core's words and the app protocol's, each in terms of the other.

extension AppMessage {
    /// Nil for what the core does not know of.
    init?(_ message: MessageFromApp) {
        switch message {
        case .hello: self = .hello
        case .done(let sequence, let answer):
            self = .done(sequence: UInt64(clamping: sequence.rawValue), AppAnswer(answer))
        case .beginTask(let id, let name): self = .beginTask(id.number, name: Self.shortened(name))
        case .beginActivity(let id, let mode): self = .beginActivity(id.number, mode: mode)
        case .endTask(let id), .endActivity(let id): self = .endHold(id.number)
        case .openScene, .closeScene, .sceneInfo: return nil
        }
    }
}

extension AppMessage {
    /// Names are for people, and the daemon keeps them.
    fileprivate static func shortened(_ name: String) -> String {
        String(decoding: name.utf8.prefix(128), as: UTF8.self)
    }
}

extension AssertionID {
    init(_ number: UInt64) { self.init(rawValue: Int64(clamping: number)) }

    fileprivate var number: UInt64 { UInt64(clamping: rawValue) }
}

extension CallbackMessage {
    /// The callback as it is sent at `now`.
    ///
    /// - Parameter previousTime: When the app ended before, in seconds since the epoch.
    init(_ delivery: Delivery, now: Instant, previousTime: Int64?) {
        self.init(
            CallbackKind(delivery.callback), sequence: SequenceNumber(rawValue: Int64(clamping: delivery.sequence)),
            deadlineMilliseconds: delivery.deadline.duration(since: now).wholeMilliseconds,
            state: ReportedState(delivery.state), fields: Self.fields(of: delivery, previousTime))
    }

    private static func fields(of delivery: Delivery, _ previousTime: Int64?) -> [Field] {
        var fields: [Field] = []
        if let launch = delivery.launch { fields += LaunchFields(launch, previousTime: previousTime).fields }
        if let time = delivery.taskTime { fields.append(Field("background-ms", time.wholeMilliseconds)) }
        return fields + (delivery.event?.event.fields ?? [])
    }
}

extension LaunchFields {
    /// - Parameter previousTime: When the app ended before, in seconds since the epoch.
    init(_ launch: Launch, previousTime: Int64?) {
        self.init(
            reason: launch.reason.word, restores: launch.restores, previousState: launch.previous?.state.rawValue,
            previousReason: launch.previous?.reason.word, previousTime: previousTime, url: launch.url)
    }
}

extension Duration {
    /// In milliseconds, rounded up: what the protocol tells must not have passed when the daemon's own time has not.
    nonisolated var wholeMilliseconds: Int64 { Int64(clamping: (wholeMicroseconds + 999) / 1000) }
}

extension CallbackKind {
    init(_ callback: Callback) {
        self =
            switch callback {
            case .willFinishLaunching: .willFinishLaunching
            case .didFinishLaunching: .didFinishLaunching
            case .didBecomeActive: .didBecomeActive
            case .willResignActive: .willResignActive
            case .didEnterBackground: .didEnterBackground
            case .willEnterForeground: .willEnterForeground
            case .openURL: .openURL
            case .continueActivity: .continueActivity
            case .performTask: .performTask
            case .memoryWarning: .didReceiveMemoryWarning
            case .protectedDataWillBecomeUnavailable: .protectedDataWillBecomeUnavailable
            case .protectedDataDidBecomeAvailable: .protectedDataDidBecomeAvailable
            case .significantTimeChange: .significantTimeChange
            }
    }
}

extension ReportedState {
    /// An app hears of three states only: in the others it hears nothing.
    init(_ state: AppState) {
        self =
            switch state {
            case .active: .active
            case .inactive, .notRunning, .terminating: .inactive
            case .background, .suspended: .background
            }
    }
}
