import LifecycleClient
import Testing

@testable import Lifecycle

/// What the Swift library makes of scenes.
@MainActor
@Suite struct ApplicationSceneTests {
    private let application = LifecycleApplication()
    private let delegate = SceneRecorder()
    private let daemon: FakeDaemon

    init() throws {
        daemon = try FakeDaemon.greeting(application, delegate)
    }

    private func tell(_ verb: String, _ state: String, _ fields: String = "", scene: String = "main") throws {
        let sequence = try daemon.post("scene-\(verb)", state, " scene=\(scene)\(fields)")
        application.dispatch()
        #expect(try daemon.line() == "done seq=\(sequence)")
    }

    @Test func `a scene's delegate hears everything, with the state that the scene is in`() throws {
        try tell("will-connect", "inactive", " role=tool reason=restoration info=page%204")
        try tell("will-enter-foreground", "inactive")
        #expect(application.connectedScenes.first?.activationState == .foregroundInactive)
        try tell("did-become-active", "active")
        try tell("will-resign-active", "active")
        #expect(application.applicationState == .inactive)
        try tell("did-enter-background", "background")
        try tell("did-disconnect", "background", " reason=reclaimed")
        #expect(
            delegate.log == [
                "connect main tool restoration page 4 unattached", "willEnterForeground main background",
                "didBecomeActive main foregroundActive", "willResignActive main foregroundActive",
                "didEnterBackground main background", "didDisconnect main unattached",
            ])
    }

    @Test func `a session outlives its scene, unless that is closed`() throws {
        try tell("will-connect", "inactive", " reason=user info=a")
        let session = try #require(application.openSessions.first)
        let scene = try #require(session.scene)
        #expect(session.userInfo == "a" && scene.session === session && application.connectedScenes.count == 1)
        try tell("did-disconnect", "background", " reason=reclaimed")
        #expect(session.scene == nil && scene.activationState == .unattached && scene.delegate == nil)
        #expect(application.openSessions.first === session && application.connectedScenes.isEmpty)
        try tell("will-connect", "background", " reason=restoration info=a")
        #expect(application.openSessions.first === session && session.scene !== scene)
        try tell("did-disconnect", "background", " reason=closed")
        #expect(application.openSessions.isEmpty)
        #expect(delegate.log.last == "discard main")
    }

    @Test func `session without a scene is discarded when it is closed`() throws {
        try tell("will-connect", "inactive", " reason=user")
        let session = try #require(application.openSessions.first)
        try tell("did-disconnect", "background", " reason=reclaimed")
        application.requestSceneSessionDestruction(session)
        #expect(try daemon.line() == "close-scene scene=main")
        #expect(application.openSessions.count == 1)
        try tell("did-disconnect", "background", " reason=closed")
        #expect(application.openSessions.isEmpty)
        #expect(
            delegate.log == ["connect main window user - unattached", "didDisconnect main unattached", "discard main"])
        try tell("did-disconnect", "background", " reason=closed", scene: "unknown")
        #expect(delegate.log.count == 3)
    }

    @Test func `each scene may have a delegate of its own`() throws {
        let other = SceneRecorder()
        delegate.delegates["b"] = other
        try tell("will-connect", "inactive", " reason=user", scene: "a")
        try tell("will-connect", "inactive", " reason=app", scene: "b")
        try tell("did-become-active", "active", scene: "b")
        #expect(delegate.log.count == 1)
        #expect(other.log.last == "didBecomeActive b foregroundActive")
        #expect(application.connectedScenes.map(\.session.persistentIdentifier) == ["a", "b"])
    }

    @Test func `an app asks for scenes, and to be rid of them`() throws {
        try tell("will-connect", "inactive", " reason=user")
        let session = try #require(application.openSessions.first)
        try application.requestSceneSessionActivation()
        #expect(try daemon.line() == "open-scene")
        try application.requestSceneSessionActivation(session)
        #expect(try daemon.line() == "open-scene scene=main")
        try application.requestSceneSessionActivation(identifier: "draft", role: .window, userInfo: "{}")
        #expect(try daemon.line() == "open-scene scene=draft role=window info=%7B%7D")
        try session.setUserInfo("page 4")
        #expect(try daemon.line() == "scene-info scene=main info=page%204")
        application.requestSceneSessionDestruction(session)
        #expect(try daemon.line() == "close-scene scene=main")
    }

    @Test func malformedSceneRequestThrows() throws {
        try tell("will-connect", "inactive", " reason=user")
        let session = try #require(application.openSessions.first)
        #expect(throws: SceneError.malformedName) {
            try application.requestSceneSessionActivation(identifier: "two words")
        }
        #expect(throws: SceneError.malformedName) {
            try application.requestSceneSessionActivation(role: SceneSession.Role(rawValue: ""))
        }
        let long = String(repeating: "x", count: SceneSession.userInfoLimit + 1)
        #expect(throws: SceneError.unusableUserInfo) { try session.setUserInfo(long) }
        try tell("did-disconnect", "background", " reason=closed")
        #expect(throws: SceneError.noSuchSession) { try session.setUserInfo("a") }
        application.stop()
        #expect(throws: SceneError.noSuchSession) { try application.requestSceneSessionActivation() }
    }

    @Test func `observers hear of scenes`() async throws {
        var events = application.events.makeAsyncIterator()
        try tell("will-connect", "inactive", " reason=user info=a")
        try tell("did-become-active", "active")
        try tell("did-disconnect", "background", " reason=closed")
        #expect(await events.next() == .sceneWillConnect("main", LifecycleScene.ConnectionOptions(userInfo: "a")))
        #expect(await events.next() == .sceneDidBecomeActive("main"))
        #expect(await events.next() == .sceneDidDisconnect("main"))
    }

    @Test func `delegates may leave out every method, and know nothing of scenes`() throws {
        final class Indifferent: LifecycleDelegate, LifecycleSceneDelegate {}
        final class Unknowing: LifecycleDelegate {}
        #expect(Indifferent().usesScenes && !Unknowing().usesScenes)
        for delegate in [Indifferent(), Unknowing()] as [any LifecycleDelegate] {
            application.attach(try #require(application.client), delegate)
            for verb in ["will-connect", "will-enter-foreground", "did-become-active"] { try tell(verb, "active") }
            for verb in ["will-resign-active", "did-enter-background", "did-disconnect"] { try tell(verb, "active") }
        }
        // The delegate hears nothing of a scene that was never connected.
        try tell("did-become-active", "active", scene: "other")
    }

    @Test func appThatStopsWhileItConfiguresASceneIsToldNothingMore() throws {
        delegate.whenConfiguring = { $0.stop() }
        try daemon.post("scene-will-connect", "inactive", " scene=main reason=user")
        application.dispatch()
        #expect(delegate.log.isEmpty)
        #expect(try daemon.isAtEnd())
    }

    @Test func `not launched by lifed, an app with scenes has one in the foreground`() throws {
        let application = LifecycleApplication()
        let delegate = SceneRecorder()
        application.attach(try AppClient(channel: nil, usesScenes: delegate.usesScenes, .leftToTheApp), delegate)
        application.dispatch()
        #expect(delegate.log.first == "connect main window user - unattached")
        #expect(delegate.log.last == "didBecomeActive main foregroundActive")
        try application.requestSceneSessionActivation()
        application.dispatch()
        #expect(delegate.log.last == "didBecomeActive scene-2 foregroundActive")
        application.requestSceneSessionDestruction(try #require(application.openSessions.first))
        application.dispatch()
        #expect(delegate.log.last == "discard main")
        #expect(application.connectedScenes.map(\.session.persistentIdentifier) == ["scene-2"])
    }

    @Test func `scene that an unmanaged app requests at its launch is another one`() throws {
        let application = LifecycleApplication()
        let delegate = SceneRecorder { try? $0.requestSceneSessionActivation() }
        application.attach(try AppClient(channel: nil, usesScenes: delegate.usesScenes, .leftToTheApp), delegate)
        application.dispatch()
        #expect(application.connectedScenes.map(\.session.persistentIdentifier) == ["main", "scene-2"])
        #expect(delegate.log.filter { $0.hasPrefix("connect") }.count == 2)
    }
}

/// Writes down what scenes are told, and the state that they are in meanwhile.
private final class SceneRecorder: LifecycleDelegate, LifecycleSceneDelegate {
    private(set) var log: [String] = []
    var delegates: [String: SceneRecorder] = [:]
    var whenConfiguring: @MainActor (LifecycleApplication) -> Void = { _ in }
    private let whenLaunched: @MainActor (LifecycleApplication) -> Void

    init(whenLaunched: @escaping @MainActor (LifecycleApplication) -> Void = { _ in }) {
        self.whenLaunched = whenLaunched
    }

    func application(_ application: LifecycleApplication, didFinishLaunchingWithOptions options: LaunchOptions) -> Bool
    {
        whenLaunched(application)
        return true
    }

    func application(
        _ application: LifecycleApplication, configurationForConnecting session: SceneSession,
        options: LifecycleScene.ConnectionOptions
    ) -> SceneConfiguration {
        whenConfiguring(application)
        return SceneConfiguration(delegate: delegates[session.persistentIdentifier] ?? self)
    }

    func application(_ application: LifecycleApplication, didDiscardSceneSessions sessions: [SceneSession]) {
        log += sessions.map { "discard \($0.persistentIdentifier)" }
    }

    func scene(_ scene: LifecycleScene, willConnectTo session: SceneSession, options: LifecycleScene.ConnectionOptions)
    {
        let words = [session.persistentIdentifier, session.role.rawValue, options.reason.rawValue]
        log.append("connect \(words.joined(separator: " ")) \(options.userInfo ?? "-") \(scene.activationState)")
    }

    func sceneWillEnterForeground(_ scene: LifecycleScene) { note("willEnterForeground", scene) }
    func sceneDidBecomeActive(_ scene: LifecycleScene) { note("didBecomeActive", scene) }
    func sceneWillResignActive(_ scene: LifecycleScene) { note("willResignActive", scene) }
    func sceneDidEnterBackground(_ scene: LifecycleScene) { note("didEnterBackground", scene) }
    func sceneDidDisconnect(_ scene: LifecycleScene) { note("didDisconnect", scene) }

    private func note(_ callback: String, _ scene: LifecycleScene) {
        log.append("\(callback) \(scene.session.persistentIdentifier) \(scene.activationState)")
    }
}
