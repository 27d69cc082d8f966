import LifecycleCore

/// What an app may be told after what it was told before, written down from the life cycle's texts alone.
struct CallbackAutomaton {
    private(set) var last: Callback?
    /// The same for each scene that it has heard of.
    private var scenes: [SceneID: SceneAutomaton] = [:]
    /// Whether the app let a deadline pass; what it is told then may leave out what it did not wait for.
    var wasLate = false

    /// Takes note of a callback.
    ///
    /// - Returns: What is wrong with it, or nil.
    mutating func told(_ delivery: Delivery) -> String? {
        let callback = delivery.callback
        guard delivery.event == nil else { return problem(with: delivery) }
        if let news = delivery.scene {
            if last != .didFinishLaunching { return "\(delivery.callback.rawValue) before it has launched" }
            return scenes[news.scene, default: SceneAutomaton()].told(delivery.callback, news)
        }
        let allowed = allowedNext
        defer { last = callback }
        return allowed.contains(callback)
            ? nil : "\(callback.rawValue) after \(last?.rawValue ?? "nothing"), not \(allowed.map(\.rawValue).sorted())"
    }

    /// Events come after the launch callbacks, and what is for the app in front only to that one.
    private func problem(with delivery: Delivery) -> String? {
        if last == nil || last == .willFinishLaunching { return "\(delivery.callback.rawValue) before it has launched" }
        switch delivery.callback {
        case .openURL, .continueActivity:
            // Out of sight is whoever was told so, and not yet that it comes back.
            let isShown = scenes.isEmpty || scenes.values.contains(where: \.isShown)
            return delivery.state == .background || last == .didEnterBackground || !isShown
                ? "\(delivery.callback.rawValue) out of sight" : nil
        default: return nil
        }
    }

    private var allowedNext: Set<Callback> {
        switch last {
        case nil: [.willFinishLaunching]
        case .willFinishLaunching: [.didFinishLaunching]
        case .didFinishLaunching: [.didBecomeActive, .didEnterBackground, .willEnterForeground]
        case .didBecomeActive: [.willResignActive]
        case .willResignActive: [.didBecomeActive, .didEnterBackground]
        case .didEnterBackground: [.willEnterForeground]
        // Events do not change what comes next.
        case .openURL, .continueActivity, .performTask, .memoryWarning, .protectedDataWillBecomeUnavailable,
            .protectedDataDidBecomeAvailable, .significantTimeChange:
            []
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            []
        case .willEnterForeground: [.didBecomeActive, .didEnterBackground]
        }
    }
}
