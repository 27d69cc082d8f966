import Glibc
import Lifecycle

/// Receives the callbacks of the app, and gives each scene a delegate.
final class ScenesDelegate: LifecycleDelegate {
    /// The scenes beside the main scene.
    private static let others = ["inbox", "draft"]

    let usesScenes = true

    func application(_ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        show("did-finish-launching \(application.applicationState)")
        return true
    }

    func application(
        _ application: LifecycleApplication, configurationForConnecting session: SceneSession,
        options: LifecycleScene.ConnectionOptions
    ) -> SceneConfiguration {
        // The first scene opens the others.
        if application.openSessions.count == 1, options.reason != .restoration {
            for name in Self.others {
                try? application.requestSceneSessionActivation(identifier: name, role: .window)
            }
        }
        return SceneConfiguration(delegate: CountingScene())
    }

    func application(_ application: LifecycleApplication, didDiscardSceneSessions sessions: [SceneSession]) {
        for session in sessions { show("did-discard-session \(session.persistentIdentifier)") }
    }

    func applicationWillTerminate(_ application: LifecycleApplication) {
        show("will-terminate \(application.applicationState)")
    }
}

/// Counts the activations of its scene, and restores the count with the scene.
final class CountingScene: LifecycleSceneDelegate {
    private var count = 0

    func scene(_ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions)
    {
        count = session.userInfo.flatMap { Int($0) } ?? 0
        show("will-connect", scene, "\(options.reason.rawValue) \(count)")
    }

    func sceneWillEnterForeground(_ scene: LifecycleScene) { show("will-enter-foreground", scene) }

    func sceneDidBecomeActive(_ scene: LifecycleScene) {
        count += 1
        show("did-become-active", scene)
    }

    func sceneWillResignActive(_ scene: LifecycleScene) { show("will-resign-active", scene) }

    func sceneDidEnterBackground(_ scene: LifecycleScene) {
        try? scene.session.setUserInfo("\(count)")
        show("did-enter-background", scene)
    }

    func sceneDidDisconnect(_ scene: LifecycleScene) { show("did-disconnect", scene) }

    private func show(_ callback: String, _ scene: LifecycleScene, _ more: String? = nil) {
        let words = ["scene-\(callback)", scene.session.persistentIdentifier, "\(scene.activationState)", more]
        print(words.compactMap(\.self).joined(separator: " "))
        fflush(nil)
    }
}

private func show(_ text: String) {
    print(text)
    fflush(nil)
}
