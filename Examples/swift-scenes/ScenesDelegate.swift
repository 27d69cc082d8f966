import Glibc
import Lifecycle

/// Hears of the app as a whole, and gives each scene a delegate of its own.
final class ScenesDelegate: ApplicationDelegate {
    /// What is beside the main scene in this app.
    private static let others = ["inbox", "draft"]

    let usesScenes = true

    func application(_ application: Application, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool {
        show("did-finish-launching \(application.applicationState)")
        return true
    }

    func application(
        _ application: Application, configurationForConnecting session: SceneSession, options: Scene.ConnectionOptions
    ) -> SceneConfiguration {
        // The first scene brings the others along; later they are closed and opened one by one.
        if application.openSessions.count == 1, options.reason != .restoration {
            for name in Self.others {
                try? application.requestSceneSessionActivation(identifier: name, role: .window)
            }
        }
        return SceneConfiguration(delegate: CountingScene())
    }

    func application(_ application: Application, didDiscardSceneSessions sessions: [SceneSession]) {
        for session in sessions { show("did-discard-session \(session.persistentIdentifier)") }
    }

    func applicationWillTerminate(_ application: Application) {
        show("will-terminate \(application.applicationState)")
    }
}

/// Counts how often its scene was in front, and has the count back when the scene is restored.
final class CountingScene: SceneDelegate {
    private var count = 0

    func scene(_ scene: Scene, willConnectTo session: SceneSession, options: Scene.ConnectionOptions) {
        count = session.userInfo.flatMap { Int($0) } ?? 0
        show("will-connect", scene, "\(options.reason.rawValue) \(count)")
    }

    func sceneWillEnterForeground(_ scene: Scene) { show("will-enter-foreground", scene) }

    func sceneDidBecomeActive(_ scene: Scene) {
        count += 1
        show("did-become-active", scene)
    }

    func sceneWillResignActive(_ scene: Scene) { show("will-resign-active", scene) }

    func sceneDidEnterBackground(_ scene: Scene) {
        try? scene.session.setUserInfo("\(count)")
        show("did-enter-background", scene)
    }

    func sceneDidDisconnect(_ scene: Scene) { show("did-disconnect", scene) }

    private func show(_ callback: String, _ scene: Scene, _ more: String? = nil) {
        let words = ["scene-\(callback)", scene.session.persistentIdentifier, "\(scene.activationState)", more]
        print(words.compactMap(\.self).joined(separator: " "))
        fflush(nil)
    }
}

private func show(_ text: String) {
    print(text)
    fflush(nil)
}
