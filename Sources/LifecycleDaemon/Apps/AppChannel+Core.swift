import AppChannel
import LifecycleCore

// The core's words and the app protocol's, each in terms of the other.

extension AppMessage {
    /// Nil for a scene that no app can have, which the protocol does not let through.
    init?(_ message: MessageFromApp) {
        switch message {
        case .hello: self = .hello
        case .done(let sequence, let answer):
            self = .done(sequence: UInt64(clamping: sequence.rawValue), AppAnswer(answer))
        case .beginTask(let id, let name): self = .beginTask(id.number, name: Self.shortened(name))
        case .beginActivity(let id, let mode): self = .beginActivity(id.number, mode: mode)
        case .endTask(let id), .endActivity(let id): self = .endHold(id.number)
        case .timeLeft: self = .timeLeft
        case .openScene(let scene, let role, let info):
            self = .openScene(scene.flatMap { LifecycleCore.SceneID($0.rawValue) }, role: role, info: info)
        case .closeScene(let scene):
            guard let scene = LifecycleCore.SceneID(scene.rawValue) else { return nil }
            self = .closeScene(scene)
        case .sceneInfo(let scene, let info):
            guard let scene = LifecycleCore.SceneID(scene.rawValue) else { return nil }
            self = .sceneInfo(scene, info)
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

extension RefusalReason {
    init(_ refusal: HoldRefusal) {
        self =
            switch refusal {
            case .tooMany: .tooManyTasks
            case .duplicate: .duplicateID
            case .undeclared: .modeNotDeclared
            case .timeIsUp: .timeIsUp
            }
    }
}

extension CallbackMessage {
    /// The callback as it is sent at `now`.
    ///
    /// - Parameters:
    ///   - previousTime: When the app ended before, in seconds since the epoch.
    ///   - scene: The scene that it is about.
    init(_ delivery: Delivery, now: Instant, previousTime: Int64?, scene: Scene?) {
        self.init(
            CallbackKind(delivery.callback), sequence: SequenceNumber(rawValue: Int64(clamping: delivery.sequence)),
            deadlineMilliseconds: delivery.deadline.duration(since: now).wholeMilliseconds,
            state: ReportedState(delivery.state), fields: Self.fields(of: delivery, previousTime, scene))
    }

    private static func fields(of delivery: Delivery, _ previousTime: Int64?, _ scene: Scene?) -> [Field] {
        var fields: [Field] = []
        if let launch = delivery.launch { fields += LaunchFields(launch, previousTime: previousTime).fields }
        if let time = delivery.taskTime { fields.append(Field("background-ms", time.wholeMilliseconds)) }
        if let news = delivery.scene { fields += news.fields(delivery.callback, of: scene) }
        return fields + (delivery.event?.event.fields ?? [])
    }
}

extension LaunchFields {
    /// - Parameter previousTime: When the app ended before, in seconds since the epoch.
    init(_ launch: Launch, previousTime: Int64?) {
        self.init(
            reason: launch.reason.rawValue, restores: launch.restores, previousState: launch.previous?.state.rawValue,
            previousReason: launch.previous?.reason.rawValue, previousTime: previousTime, url: launch.url)
    }
}

extension SceneNews {
    /// What a callback about a scene says beside what every callback does.
    fileprivate func fields(_ callback: Callback, of scene: Scene?) -> [Field] {
        guard let id = AppChannel.SceneID(rawValue: self.scene.name) else { return [] }
        return switch callback {
        case .sceneWillConnect:
            SceneConnectionFields(
                scene: id, role: scene?.role ?? SceneProtocol.defaultRole, reason: reason ?? "person",
                info: scene?.info
            ).fields
        case .sceneDidDisconnect:
            SceneDisconnectionFields(scene: id, reason: reason ?? SceneDisconnectionFields.closed).fields
        default: .scene(id)
        }
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
            case .sceneWillConnect: .sceneWillConnect
            case .sceneWillEnterForeground: .sceneWillEnterForeground
            case .sceneDidBecomeActive: .sceneDidBecomeActive
            case .sceneWillResignActive: .sceneWillResignActive
            case .sceneDidEnterBackground: .sceneDidEnterBackground
            case .sceneDidDisconnect: .sceneDidDisconnect
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
