import AppChannel
import LifecycleTypes
import TestSupport
import Testing

@testable import LifecycleClient

/// An app that the daemon did not launch, and that it manages later or not.
@Suite struct SessionUnmanagedTests {
    private static let launch = [
        "will-finish-launching inactive", "did-finish-launching inactive", "did-become-active active",
    ]

    private func unmanaged() -> AppSession {
        var session = AppSession(hasChannel: true, canResume: true)
        _ = session.takeOutput()
        session.hear("unmanaged")
        return session
    }

    @Test func `app of no daemon is launched to the foreground and keeps its channel`() {
        var session = unmanaged()
        #expect(session.run() == Self.launch)
        #expect(!session.isManaged && !session.isLost)
        let task = session.beginTask(name: "save")
        session.endTask(task)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `app that is adopted in the background leaves the foreground before it answers the launch`() {
        var session = unmanaged()
        _ = session.run()
        _ = session.beginTask(name: "save")
        session.hear("welcome protocol=1 app-id=x")
        #expect(session.isManaged)
        #expect(session.takeOutput() == "begin-task id=1 name=save\n")
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive reason=adopt")
        #expect(session.takeOutput() == "done seq=1\n")
        session.hear("did-finish-launching seq=2 deadline-ms=1 state=background reason=adopt")
        #expect(session.run() == ["will-resign-active active", "did-enter-background background"])
        #expect(session.takeOutput() == "done seq=2\n")
        session.hear("did-enter-background seq=3 deadline-ms=1 state=background")
        #expect(session.run().isEmpty)
        #expect(session.takeOutput() == "done seq=3\n")
        session.hear("will-enter-foreground seq=4 deadline-ms=1 state=background")
        #expect(session.run() == ["will-enter-foreground background"])
    }

    @Test func `app that is adopted in the foreground becomes inactive and active again`() {
        var session = unmanaged()
        session.hear("welcome protocol=1 app-id=x")
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive reason=adopt")
        session.hear("did-finish-launching seq=2 deadline-ms=1 state=inactive reason=adopt")
        #expect(session.run() == Self.launch + ["will-resign-active active"])
        session.hear("did-become-active seq=3 deadline-ms=1 state=active")
        #expect(session.run() == ["did-become-active active"])
        #expect(session.takeOutput() == "done seq=1\ndone seq=2\ndone seq=3\n")
    }

    @Test func `released app becomes active again, and can be adopted once more`() {
        var session = unmanaged()
        session.hear("welcome protocol=1 app-id=x")
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive reason=adopt")
        session.hear("did-finish-launching seq=2 deadline-ms=1 state=background reason=adopt")
        _ = session.run()
        session.channelDidEnd()
        session.resume()
        session.hear("unmanaged")
        #expect(session.run() == ["will-enter-foreground background", "did-become-active active"])
        #expect(!session.isManaged)
        _ = session.takeOutput()
        session.hear("welcome protocol=1 app-id=x")
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive reason=adopt")
        #expect(session.takeOutput() == "done seq=1\n")
    }

    @Test func taskThatExpiresInASecondAdoptionIsReported() {
        var session = unmanaged()
        let task = session.beginTask(name: "save")
        for _ in 1...2 {
            session.hear("welcome protocol=1 app-id=x")
            session.hear("granted id=1")
            _ = session.run()
            session.hear("expire-task id=1 deadline-ms=5000")
            #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
            session.channelDidEnd()
            session.resume()
            session.hear("unmanaged")
        }
    }

    @Test func workOfAFormerAdoptionDoesNotAnswerACallbackOfTheNext() throws {
        var session = unmanaged()
        session.hear("welcome protocol=1 app-id=x")
        _ = session.run()
        session.hear("perform-task seq=1 deadline-ms=1 state=active kind=fetch")
        guard case .callback(let work) = session.next() else {
            Issue.record("no work")
            return
        }
        session.channelDidEnd()
        session.resume()
        session.hear("unmanaged")
        session.hear("welcome protocol=1 app-id=x")
        session.hear("will-resign-active seq=1 deadline-ms=1 state=active")
        _ = session.takeOutput()
        session.answer(work, .result(.newData))
        #expect(session.takeOutput().isEmpty)
        #expect(session.run() == ["will-resign-active active"])
        #expect(session.takeOutput() == "done seq=1\n")
    }

    @Test func `app says hello again when the daemon comes back`() {
        var session = unmanaged()
        _ = session.run()
        session.channelDidEnd()
        #expect(session.isLost && !session.isManaged)
        session.resume()
        #expect(session.takeOutput() == "hello protocol=1\n")
        #expect(session.run().isEmpty)
    }

    @Test func `app gives up a daemon that always closes the connection, and is launched once`() {
        var session = AppSession(hasChannel: true, canResume: true)
        for _ in 1...20 {
            session.channelDidEnd()
            session.resume()
        }
        #expect(!session.isLost)
        #expect(session.run() == Self.launch)
    }

    @Test func `app of no daemon outlives any number of restarts`() {
        var session = unmanaged()
        for day in 1...20 {
            session.channelDidEnd()
            session.resume()
            #expect(!session.isSettled)
            session.hear("unmanaged", now: Int64(day) * 86_400_000)
            #expect(session.isSettled)
        }
        session.channelDidEnd()
        #expect(session.isLost)
        session.resume()
        session.hear("welcome protocol=1 app-id=x")
        #expect(session.isManaged)
    }

    @Test func `app of no daemon gives up a daemon that closes each connection within minutes of its answer`() {
        var session = unmanaged()
        var attempts = 0
        while attempts < 1000 {
            session.channelDidEnd()
            guard session.isLost else { break }
            session.resume()
            attempts += 1
            session.hear("unmanaged", now: Int64(attempts) * 240_000)
            #expect(!session.isSettled)
        }
        #expect(attempts == 9)
    }

    @Test func scenesOfAReleasedAppComeToTheForeground() {
        var session = AppSession(hasChannel: true, canResume: true, usesScenes: true)
        session.hear("welcome protocol=1 app-id=x")
        for (number, scene) in ["main", "main", "other", "gone"].enumerated() {
            let verb = number == 1 ? "will-enter-foreground" : "will-connect"
            session.hear(
                "scene-\(verb) seq=\(number + 1) deadline-ms=1 state=background scene=\(scene) reason=user")
        }
        session.hear("scene-did-disconnect seq=5 deadline-ms=1 state=background scene=gone reason=reclaimed")
        _ = session.run()
        session.channelDidEnd()
        session.resume()
        session.hear("unmanaged")
        #expect(
            session.run() == [
                "scene-did-become-active active", "scene-will-enter-foreground active",
                "scene-did-become-active active",
            ])
        #expect(session.allScenes.map(\.state) == [.foregroundActive, .foregroundActive, .unattached])
    }

    @Test func `released app without a connected scene gets one`() {
        var session = AppSession(hasChannel: true, canResume: true, usesScenes: true)
        session.hear("welcome protocol=1 app-id=x")
        session.hear("did-finish-launching seq=1 deadline-ms=1 state=background reason=adopt")
        _ = session.run()
        session.channelDidEnd()
        session.resume()
        session.hear("unmanaged")
        #expect(session.run().last == "scene-did-become-active active")
        #expect(session.allScenes.map(\.id) == [.main])
    }

    @Test func `app with scenes does without the daemon`() {
        var session = AppSession(hasChannel: true, canResume: true, usesScenes: true)
        session.hear("unmanaged")
        #expect(session.run().last == "scene-did-become-active active")
        session.channelDidEnd()
        #expect(!session.isLost)
    }
}
