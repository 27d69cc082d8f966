import AppChannel
import LifecycleClient
import LifecycleTypes
import Testing

/// What a session makes of scenes.
@Suite struct SessionSceneTests {
    private static let welcome = "welcome protocol=1 app-id=x"
    private let other = SceneID("other")

    private func managed() -> AppSession {
        var session = AppSession(hasChannel: true, canResume: true, usesScenes: true)
        session.hear(Self.welcome)
        _ = session.takeOutput()
        return session
    }

    /// Tells of a scene, and returns its state meanwhile and afterwards.
    private func tell(
        _ session: inout AppSession, _ sequence: Int, _ verb: String, _ state: String, _ fields: String = ""
    ) -> [SceneState?] {
        session.hear("scene-\(verb) seq=\(sequence) deadline-ms=1 state=\(state) scene=main\(fields)")
        guard case .callback(let callback) = session.next() else { return [] }
        let meanwhile = session.scene("main")?.state
        session.answer(callback)
        return [meanwhile, session.scene("main")?.state]
    }

    @Test func stateOfASceneFollowsItsCallbacks() {
        var session = managed()
        #expect(
            tell(&session, 1, "will-connect", "inactive", " role=tool reason=user info=a")
                == [.unattached, .background])
        #expect(session.scene("main")?.role == "tool" && session.scene("main")?.info == "a")
        #expect(session.state == .inactive)
        #expect(tell(&session, 2, "will-enter-foreground", "inactive") == [.background, .foregroundInactive])
        #expect(tell(&session, 3, "did-become-active", "active") == [.foregroundActive, .foregroundActive])
        #expect(tell(&session, 4, "will-resign-active", "active") == [.foregroundActive, .foregroundInactive])
        #expect(session.state == .inactive)
        #expect(tell(&session, 5, "did-enter-background", "background") == [.background, .background])
        #expect(tell(&session, 6, "will-enter-foreground", "background") == [.background, .foregroundInactive])
        #expect(session.state == .inactive)
        #expect(tell(&session, 7, "did-disconnect", "background", " reason=reclaimed") == [.unattached, .unattached])
        #expect(tell(&session, 8, "did-disconnect", "background", " reason=closed") == [.unattached, nil])
        #expect(session.takeOutput() == (1...8).map { "done seq=\($0)\n" }.joined())
    }

    @Test func `the app is active while one of its scenes is`() {
        var session = managed()
        for (number, scene) in ["a", "b"].enumerated() {
            session.hear("scene-did-become-active seq=\(number + 1) deadline-ms=1 state=active scene=\(scene)")
        }
        session.hear("scene-will-resign-active seq=3 deadline-ms=1 state=active scene=a")
        _ = session.run()
        #expect(session.state == .active)
        session.hear("scene-will-resign-active seq=4 deadline-ms=1 state=active scene=b")
        _ = session.run()
        #expect(session.state == .inactive)
    }

    @Test func `the time in the background is that of the whole app`() {
        var session = managed()
        session.hear("scene-did-enter-background seq=1 deadline-ms=1 state=active scene=a", now: 0)
        #expect(session.backgroundMillisecondsRemaining(now: 0) == nil)
        session.hear("scene-did-enter-background seq=2 deadline-ms=1 state=background scene=b background-ms=30000")
        #expect(session.backgroundMillisecondsRemaining(now: 1000) == 29000)
        session.hear("scene-will-enter-foreground seq=3 deadline-ms=1 state=background scene=b")
        #expect(session.backgroundMillisecondsRemaining(now: 1000) == nil)
    }

    @Test func requestsForScenesAreTheLinesOfThePage() throws {
        var session = managed()
        try session.openScene(nil, role: nil, info: nil)
        try session.openScene(other, role: "tool", info: "a b")
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        try session.setSceneInfo("page 4", of: .main)
        try session.setSceneInfo("page 4", of: .main)
        try session.setSceneInfo(nil, of: .main)
        session.closeScene(.main)
        #expect(
            session.takeOutput() == """
                open-scene
                open-scene scene=other role=tool info=a%20b
                done seq=1
                scene-info scene=main info=page%204
                scene-info scene=main
                close-scene scene=main

                """)
    }

    @Test func malformedSceneRequestIsNotSent() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        _ = session.takeOutput()
        #expect(throws: SceneRequestError.malformedRole) { try session.openScene(nil, role: "two words", info: nil) }
        let long = String(repeating: "x", count: SceneText.infoLimit + 1)
        #expect(throws: SceneRequestError.unusableInfo) { try session.openScene(nil, role: nil, info: long) }
        #expect(throws: SceneRequestError.unusableInfo) { try session.setSceneInfo("a\u{0}", of: .main) }
        let missing = try #require(other)
        #expect(throws: SceneRequestError.noSuchScene) { try session.setSceneInfo("a", of: missing) }
        session.closeScene(missing)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `a daemon that does not read has requests refused here`() throws {
        var session = managed()
        let info = String(repeating: "x", count: SceneText.infoLimit)
        #expect(throws: SceneRequestError.tooManyRequests) {
            for _ in 0..<1000 { try session.openScene(nil, role: nil, info: info) }
        }
    }

    @Test func scenesKeepTheirStatesAcrossARestartAndTheirRequestsAreRepeated() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        _ = tell(&session, 2, "will-enter-foreground", "inactive")
        _ = tell(&session, 3, "did-become-active", "active")
        try session.setSceneInfo("a", of: .main)
        session.channelDidEnd()
        try session.setSceneInfo("b", of: .main)
        try session.openScene(other, role: nil, info: nil)
        #expect(session.scene("main")?.state == .foregroundActive)
        session.resume()
        #expect(
            session.takeOutput() == """
                hello protocol=1 resume=3
                scene-info scene=main info=b
                done seq=3

                """)
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "open-scene scene=other\n")
        session.hear("scene-did-become-active seq=3 deadline-ms=1 state=active scene=main")
        #expect(session.next() == nil)
        #expect(session.scene("main")?.state == .foregroundActive)
        #expect(session.takeOutput() == "done seq=3\n")
    }

    @Test func requestToCloseASceneIsRepeatedToANewDaemon() {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "close-scene scene=main\ndone seq=1\n")
        _ = tell(&session, 2, "did-disconnect", "background", " reason=closed")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "done seq=2\n")
    }

    @Test func `scene that its app closes and opens again is not closed by a repetition`() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        try session.openScene(.main, role: nil, info: nil)
        #expect(session.takeOutput() == "done seq=1\nclose-scene scene=main\nopen-scene scene=main\n")
        try session.setSceneInfo("a", of: .main)
        session.channelDidEnd()
        session.resume()
        #expect(session.takeOutput() == "hello protocol=1 resume=1\nscene-info scene=main info=a\ndone seq=1\n")
    }

    @Test func `request that cannot be made does not reopen a scene`() {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        #expect(throws: SceneRequestError.unusableInfo) { try session.openScene(.main, role: nil, info: "a\u{0}") }
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "close-scene scene=main\ndone seq=1\n")
    }

    @Test(arguments: ["will-enter-foreground", "did-become-active"])
    func `closing scene that comes to the foreground after an answer is not being closed any more`(verb: String) {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        _ = tell(&session, 2, verb, "inactive")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "close-scene scene=main\ndone seq=2\n", "the daemon may not have read it")
        _ = tell(&session, 3, verb, "inactive")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "close-scene scene=main\ndone seq=3\n", "nor the repetition")
        _ = tell(&session, 4, "did-become-active", "active")
        _ = tell(&session, 5, verb, "inactive")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "done seq=5\n")
    }

    @Test func closeThatTheDaemonHasReadIsNotRepeatedToTheNext() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        _ = tell(&session, 2, "will-resign-active", "active")
        #expect(throws: SceneRequestError.noSuchScene) { try session.setSceneInfo("a", of: .main) }
        _ = tell(&session, 3, "did-enter-background", "background")
        // A client has opened the scene again in the background, and the app is not told.
        try session.setSceneInfo("a", of: .main)
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "scene-info scene=main info=a\ndone seq=3\n")
    }

    @Test func closeIsRepeatedForASceneThatTheDaemonConnectsMeanwhile() {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        _ = tell(&session, 2, "did-disconnect", "background", " reason=reclaimed")
        session.closeScene(.main)
        _ = tell(&session, 3, "will-connect", "background", " reason=restoration")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "close-scene scene=main\ndone seq=3\n")
    }

    @Test(arguments: ["scene-will-resign-active", "perform-task"])
    func closeIsRepeatedAfterACallbackThatDoesNotWaitForAnAnswer(verb: String) {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        _ = tell(&session, 2, "will-enter-foreground", "inactive")
        session.closeScene(.main)
        _ = tell(&session, 3, "did-become-active", "active")
        session.hear("\(verb) seq=4 deadline-ms=1 state=active scene=main kind=fetch")
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput().hasPrefix("close-scene scene=main\n"))
    }

    @Test func `last request for a scene counts when there is a channel again`() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.channelDidEnd()
        try session.openScene(.main, role: nil, info: nil)
        try session.openScene(other, role: nil, info: nil)
        session.closeScene(.main)
        session.resume()
        session.hear(Self.welcome)
        #expect(
            session.takeOutput() == """
                hello protocol=1 resume=1
                close-scene scene=main
                done seq=1
                open-scene scene=other

                """)
    }

    @Test func closeTakesBackAnOpeningThatWaits() throws {
        var session = managed()
        let id = try #require(other)
        session.channelDidEnd()
        try session.openScene(id, role: nil, info: nil)
        session.closeScene(id)
        session.resume()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "hello protocol=1 resume=0\n")
    }

    @Test func requestsForScenesAreFulfilledWithoutTheDaemonAfterItsGoodbye() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        session.closeScene(.main)
        session.channelDidEnd()
        try session.openScene(other, role: "tool", info: "a")
        session.resume()
        session.channelDidEnd()
        session.resume()
        try session.openScene(nil, role: nil, info: nil)
        session.hear("goodbye reason=not-expected")
        #expect(session.run().first == "scene-did-disconnect background")
        #expect(session.allScenes.map(\.id.name) == ["other", "main"])
        #expect(session.allScenes.allSatisfy { $0.state == .foregroundActive })
    }

    @Test func sceneWhoseEndTheDaemonKnowsEndsWithoutTheDaemon() throws {
        var session = managed()
        _ = tell(&session, 1, "will-connect", "inactive", " reason=user")
        _ = tell(&session, 2, "will-enter-foreground", "inactive")
        session.closeScene(.main)
        _ = tell(&session, 3, "did-enter-background", "inactive")
        session.hear("memory-warning seq=4 deadline-ms=1 state=inactive")
        _ = session.run()
        session.channelDidEnd()
        session.resume()
        session.hear("unmanaged")
        #expect(session.run().contains("scene-did-disconnect background"))
    }

    @Test func appWithoutScenesIsToldOfNoneAtGoodbye() throws {
        var session = AppSession(hasChannel: true, canResume: true)
        session.hear(Self.welcome)
        session.channelDidEnd()
        try session.openScene(nil, role: nil, info: nil)
        session.resume()
        session.hear("goodbye reason=not-expected")
        #expect(!session.run().contains { $0.hasPrefix("scene-") })
    }

    @Test(arguments: [true, false])
    func requestForASceneBeforeTheFirstAnswerOfTheDaemonIsNotLost(isManaged: Bool) throws {
        var session = AppSession(hasChannel: true, canResume: true, usesScenes: true)
        try session.openScene(nil, role: "tool", info: nil)
        session.hear(isManaged ? Self.welcome : "unmanaged")
        if isManaged {
            #expect(session.takeOutput() == "hello protocol=1\nopen-scene role=tool\n")
        } else {
            _ = session.run()
            #expect(session.allScenes.map(\.role) == ["window", "tool"])
        }
    }

    @Test func `scene that an unmanaged app closes and opens again ends first`() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        _ = session.run()
        session.closeScene(.main)
        session.closeScene(.main)
        try session.openScene(.main, role: nil, info: "a")
        #expect(
            session.run() == [
                "scene-will-resign-active active", "scene-did-enter-background background",
                "scene-did-disconnect background", "scene-will-connect inactive",
                "scene-will-enter-foreground inactive", "scene-did-become-active active",
            ])
        #expect(session.scene("main")?.state == .foregroundActive && session.scene("main")?.info == "a")
    }

    @Test func unmanagedAppThatRequestsNewScenesInOneHandlerGetsAsMany() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        while case .callback(let callback) = session.next() {
            if callback.kind == .didFinishLaunching {
                try session.openScene(nil, role: "tool", info: nil)
                try session.openScene(nil, role: nil, info: nil)
            }
            session.answer(callback)
        }
        #expect(session.allScenes.map(\.id.name) == ["main", "scene-2", "scene-3"])
        #expect(session.allScenes.map(\.role) == ["window", "tool", "window"])
        #expect(session.allScenes.allSatisfy { $0.state == .foregroundActive })
    }

    @Test func sceneThatAnUnmanagedAppOpensAgainWhileItIsConnectedIsConnectedOnce() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        var connections = 0
        while connections < 10, case .callback(let callback) = session.next() {
            if callback.kind == .sceneWillConnect {
                connections += 1
                try session.openScene(.main, role: nil, info: nil)
            }
            session.answer(callback)
        }
        #expect(connections == 1)
        #expect(session.state == .active)
    }

    @Test func unmanagedAppThatClosesItsScenesInOneHandlerIsInTheBackground() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        try session.openScene(nil, role: nil, info: nil)
        _ = session.run()
        for scene in session.allScenes { session.closeScene(scene.id) }
        #expect(
            session.run() == [
                "scene-will-resign-active active", "scene-did-enter-background active", "scene-did-disconnect active",
                "scene-will-resign-active active", "scene-did-enter-background background",
                "scene-did-disconnect background",
            ])
        #expect(session.allScenes.isEmpty && session.state == .background)
    }

    @Test func sceneThatAnUnmanagedAppOpensAndClosesInOneHandlerEnds() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        _ = session.run()
        let id = try #require(other)
        try session.openScene(id, role: nil, info: nil)
        session.closeScene(id)
        session.closeScene(id)
        #expect(session.run().last == "scene-did-disconnect active")
        #expect(session.allScenes.map(\.id) == [.main])
    }

    @Test func closedSceneOfAnUnmanagedAppEndsOnce() {
        var session = AppSession(hasChannel: false, usesScenes: true)
        _ = session.run()
        session.closeScene(.main)
        var ends = 0
        while case .callback(let callback) = session.next() {
            if callback.kind == .sceneDidDisconnect { ends += 1 }
            session.closeScene(.main)
            session.answer(callback)
        }
        #expect(ends == 1)
    }

    @Test func `requests that wait for a channel have an end`() throws {
        var session = managed()
        session.channelDidEnd()
        #expect(throws: SceneRequestError.tooManyRequests) {
            for _ in 0..<1000 { try session.openScene(nil, role: nil, info: nil) }
        }
    }

    @Test func unmanagedAppHasASceneInTheForegroundAndOpensMore() throws {
        var session = AppSession(hasChannel: false, usesScenes: true)
        #expect(
            session.run() == [
                "will-finish-launching inactive", "did-finish-launching inactive", "scene-will-connect inactive",
                "scene-will-enter-foreground inactive", "scene-did-become-active active",
            ])
        try session.openScene(nil, role: "tool", info: nil)
        #expect(
            session.run() == [
                "scene-will-connect active", "scene-will-enter-foreground active", "scene-did-become-active active",
            ])
        #expect(session.scene("scene-2")?.state == .foregroundActive && session.scene("scene-2")?.role == "tool")
        try session.setSceneInfo("a", of: .main)
        #expect(session.scene("main")?.info == "a")
        session.closeScene(.main)
        #expect(
            session.run() == [
                "scene-will-resign-active active", "scene-did-enter-background active", "scene-did-disconnect active",
            ])
        #expect(session.scene("main") == nil)
        #expect(session.state == .active)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `an app without scenes that no daemon manages hears of none`() {
        var session = AppSession(hasChannel: false)
        #expect(session.run().last == "did-become-active active")
    }
}

extension AppSession {
    fileprivate func scene(_ id: String) -> SceneRecord? {
        allScenes.first { $0.id.name == id }
    }
}
