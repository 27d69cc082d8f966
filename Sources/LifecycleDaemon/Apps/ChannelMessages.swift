import AppChannel
import LifecycleCore

// The terms of the core in those of the app protocol, and back.

extension AppMessage {
    init(_ message: MessageFromApp) {
        switch message {
        case .hello: self = .hello
        case .done(let sequence, let answer):
            self = .done(sequence: UInt64(clamping: sequence.rawValue), answer)
        case .beginTask(let id, let name): self = .beginTask(id.number, name: Self.shortened(name))
        case .beginActivity(let id, let mode): self = .beginActivity(id.number, mode: mode)
        case .endTask(let id), .endActivity(let id): self = .endAssertion(id.number)
        case .timeLeft: self = .timeLeft
        case .openScene(let scene, let role, let info): self = .openScene(scene, role: role, info: info)
        case .closeScene(let scene): self = .closeScene(scene)
        case .sceneInfo(let scene, let info): self = .sceneInfo(scene, info)
        }
    }
}

extension AppMessage {
    fileprivate static func shortened(_ name: String) -> String {
        String(decoding: name.utf8.prefix(128), as: UTF8.self)
    }
}

extension AssertionID {
    init(_ number: UInt64) { self.init(rawValue: Int64(clamping: number)) }

    fileprivate var number: UInt64 { UInt64(clamping: rawValue) }
}

extension CallbackMessage {
    /// - Parameters:
    ///   - now: The time at which the message is sent.
    ///   - previousTime: The time of the previous exit, in seconds since the epoch.
    ///   - scene: The scene that the callback concerns.
    init(_ delivery: Delivery, now: Instant, previousTime: Int64?, scene: Scene?) {
        self.init(
            delivery.callback,
            sequence: SequenceNumber(rawValue: Int64(clamping: delivery.sequence)),
            deadlineMilliseconds: delivery.deadline.duration(since: now).wholeMilliseconds,
            state: RunningState(reporting: delivery.state), fields: Self.fields(of: delivery, previousTime, scene))
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
    /// - Parameter previousTime: The time of the previous exit, in seconds since the epoch.
    init(_ launch: Launch, previousTime: Int64?) {
        self.init(
            reason: launch.reason.rawValue, restores: launch.restores,
            restoreFailed: launch.previous?.restoreFailure != nil, previousState: launch.previous?.state.rawValue,
            previousReason: launch.previous?.reason.rawValue, previousTime: previousTime, url: launch.url)
    }
}

extension SceneNews {
    fileprivate func fields(_ callback: Callback, of scene: Scene?) -> [Field] {
        let id = self.scene
        if callback == .sceneWillConnect {
            let role = scene?.role ?? SceneText.defaultRole
            return SceneConnectionFields(
                scene: id, role: role, reason: (reason ?? .user).rawValue, info: scene?.info
            ).fields
        }
        guard callback == .sceneDidDisconnect else { return .scene(id) }
        return SceneDisconnectionFields(scene: id, reason: (reason ?? .closed).rawValue).fields
    }
}

extension Duration {
    /// In milliseconds, rounded up: a deadline of the protocol must not pass before the daemon's own.
    nonisolated var wholeMilliseconds: Int64 { Int64(clamping: (wholeMicroseconds + 999) / 1000) }
}

extension RunningState {
    /// The protocol has three states; in the others an app gets no message.
    fileprivate init(reporting state: AppState) {
        switch state {
        case .active: self = .active
        case .inactive, .notRunning, .terminating: self = .inactive
        case .background, .suspended: self = .background
        }
    }
}

extension AppEvent {
    /// The fields of the callback besides those of every callback.
    var fields: [Field] {
        switch self {
        case .openURL(let url, let type, let source): OpenURLFields(url: url, type: type, source: source).fields
        case .continueActivity(let type, let info): ContinueActivityFields(type: type, info: info).fields
        case .performTask(let kind, let payload): PerformTaskFields(kind: kind, payload: payload).fields
        case .notice: []
        }
    }
}
