package import LifecycleCore

/// What an app may be told after what it was told before, written down from the life cycle's texts alone.
package struct CallbackAutomaton: Sendable {
    /// The last callback of the life cycle that it was told.
    package private(set) var last: Callback?
    /// Whether the app let a deadline pass; what it is told then may leave out what it did not wait for.
    package var wasLate = false

    package init() {}

    /// Whether it was told of both parts of its launch.
    package var hasLaunched: Bool { last != nil && last != .willFinishLaunching }

    /// Takes note of a callback.
    ///
    /// - Returns: What is wrong with it, or nil.
    package mutating func told(_ delivery: Delivery) -> String? {
        let callback = delivery.callback
        guard delivery.event == nil else { return problem(with: delivery) }
        let allowed = allowedNext
        defer { last = callback }
        guard !allowed.contains(callback) else { return nil }
        return "\(callback.rawValue) after \(last?.rawValue ?? "nothing"), not \(allowed.map(\.rawValue).sorted())"
    }

    /// Events come after the launch callbacks, and what is for the app in front only to that one, before it is active or
    /// while it is.
    private func problem(with delivery: Delivery) -> String? {
        guard hasLaunched else { return "\(delivery.callback.rawValue) before it has launched" }
        switch delivery.callback {
        case .openURL, .continueActivity:
            if last == .didEnterBackground || delivery.state == .background {
                return "\(delivery.callback.rawValue) out of sight"
            }
            return last == .willResignActive && delivery.state == .active
                ? "\(delivery.callback.rawValue) while active, after it has resigned" : nil
        default: return nil
        }
    }

    private var allowedNext: [Callback] {
        switch last {
        case nil: [.willFinishLaunching]
        case .willFinishLaunching: [.didFinishLaunching]
        case .didFinishLaunching: [.didBecomeActive, .didEnterBackground, .willEnterForeground]
        case .didBecomeActive: [.willResignActive]
        case .willResignActive: [.didBecomeActive, .didEnterBackground]
        case .didEnterBackground: [.willEnterForeground]
        case .willEnterForeground: wasLate ? [.didBecomeActive, .didEnterBackground] : [.didBecomeActive]
        case .openURL, .continueActivity, .performTask, .memoryWarning, .protectedDataWillBecomeUnavailable,
            .protectedDataDidBecomeAvailable, .significantTimeChange:
            []
        // No app of the simulation has scenes.
        case .sceneWillConnect, .sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive,
            .sceneDidEnterBackground, .sceneDidDisconnect:
            []
        }
    }
}
