package import LifecycleCore

/// What an app may be told after what it was told before, written down from the life cycle's texts alone.
package struct CallbackAutomaton: Sendable {
    /// The last callback of the life cycle that it was told.
    package private(set) var last: Callback?
    /// A Boolean value that indicates whether the app's scenes are told in its place what concerns being in the foreground.
    package let hasScenes: Bool
    /// The same for each scene that it has heard of.
    package private(set) var scenes: [SceneID: SceneAutomaton] = [:]
    /// A Boolean value that indicates whether the app let a deadline pass; what it is told then may leave out what it did not wait for.
    package var wasLate = false

    package init(hasScenes: Bool = false) { self.hasScenes = hasScenes }

    /// A Boolean value that indicates whether it was told of both parts of its launch.
    package var hasLaunched: Bool { last != nil && last != .willFinishLaunching }

    /// Takes note of a callback.
    ///
    /// - Returns: The mistake, or nil.
    package mutating func told(_ delivery: Delivery) -> String? {
        let callback = delivery.callback
        guard delivery.event == nil else { return problem(with: delivery) }
        if let news = delivery.scene { return told(callback, news) }
        let allowed = allowedNext
        defer { last = callback }
        guard !allowed.contains(callback) else { return nil }
        return "\(callback.rawValue) after \(last?.rawValue ?? "nothing"), not \(allowed.map(\.rawValue).sorted())"
    }

    private mutating func told(_ callback: Callback, _ news: SceneNews) -> String? {
        guard hasScenes else { return "\(callback.rawValue), and has no scenes" }
        guard hasLaunched else { return "\(callback.rawValue) before it has launched" }
        return scenes[news.scene, default: SceneAutomaton()].told(callback, reason: news.reason).map {
            "of \(news.scene) \($0)"
        }
    }

    /// Events come after the launch callbacks, and what is for the app in the foreground only to that one, before it is active or
    /// while it is.
    private func problem(with delivery: Delivery) -> String? {
        guard hasLaunched else { return "\(delivery.callback.rawValue) before it has launched" }
        switch delivery.callback {
        case .openURL, .continueActivity:
            let isHidden = hasScenes ? !scenes.values.contains(where: \.isShown) : last == .didEnterBackground
            if isHidden || delivery.state == .background {
                return "\(delivery.callback.rawValue) in the background"
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
        case .didFinishLaunching where hasScenes: []
        case .didFinishLaunching: [.didBecomeActive, .didEnterBackground, .willEnterForeground]
        case .didBecomeActive: [.willResignActive]
        case .willResignActive: [.didBecomeActive, .didEnterBackground]
        case .didEnterBackground: [.willEnterForeground]
        case .willEnterForeground: [.didBecomeActive, .didEnterBackground]
        // Events and notices have no order, and each scene has its own.
        case .some: []
        }
    }
}
