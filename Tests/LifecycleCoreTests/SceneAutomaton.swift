import LifecycleCore

/// What an app may be told of one scene after what it was told of it before, written down from the texts alone.
struct SceneAutomaton {
    private var last: Callback?

    /// Whether the scene is in sight, as far as the app knows.
    var isShown: Bool {
        [.sceneWillEnterForeground, .sceneDidBecomeActive, .sceneWillResignActive].contains(last)
    }

    /// Takes note of a callback.
    ///
    /// - Returns: What is wrong with it, or nil.
    mutating func told(_ callback: Callback, _ news: SceneNews) -> String? {
        let allowed = allowedNext(endsApp: news.reason == "terminating")
        defer { last = callback }
        guard !allowed.contains(callback) else { return nil }
        return
            "\(news) \(callback.rawValue) after \(last?.rawValue ?? "nothing"), not \(allowed.map(\.rawValue).sorted())"
    }

    private func allowedNext(endsApp: Bool) -> Set<Callback> {
        let inSight: Set<Callback> = endsApp ? [.sceneDidDisconnect] : []
        return switch last {
        case nil, .sceneDidDisconnect: [.sceneWillConnect]
        case .sceneWillConnect, .sceneDidEnterBackground: [.sceneWillEnterForeground, .sceneDidDisconnect]
        case .sceneWillEnterForeground, .sceneWillResignActive:
            inSight.union([.sceneDidBecomeActive, .sceneDidEnterBackground])
        case .sceneDidBecomeActive: [.sceneWillResignActive]
        default: []
        }
    }
}
