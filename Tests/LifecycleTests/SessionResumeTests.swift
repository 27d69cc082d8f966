import AppChannel
import LifecycleTypes
import Testing

@testable import LifecycleClient

/// What a session makes of a daemon that died and came back.
@Suite struct SessionResumeTests {
    private static let welcome = "welcome protocol=1 app-id=x"

    private func managed() -> AppSession {
        var session = AppSession(hasChannel: true, canResume: true)
        session.hear(Self.welcome)
        _ = session.takeOutput()
        return session
    }

    private func callback(_ sequence: Int, _ verb: String = "did-become-active", _ state: String = "active") -> String {
        "\(verb) seq=\(sequence) deadline-ms=1 state=\(state)"
    }

    @Test func repeatedCallbackIsAnsweredAgainWithoutACall() throws {
        var session = managed()
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive")
        guard case .callback(let launch) = session.next() else {
            Issue.record("no callback")
            return
        }
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive")
        #expect(session.next() == nil)
        #expect(session.takeOutput().isEmpty, "the app is still dealing with it")
        session.answer(launch, .handled(false))
        #expect(session.takeOutput() == "done seq=1 handled=no\n")
        session.hear("will-finish-launching seq=1 deadline-ms=1 state=inactive")
        #expect(session.next() == nil)
        #expect(session.takeOutput() == "done seq=1 handled=no\n")
    }

    @Test func answerToWorkIsRepeatedAfterALaterCallback() {
        var session = managed()
        session.hear("perform-task seq=1 deadline-ms=1 state=active kind=fetch")
        guard case .callback(let work) = session.next() else {
            Issue.record("no work")
            return
        }
        session.answer(work, .result(.newData))
        session.hear(callback(2))
        _ = session.run()
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "done seq=1 result=new-data\ndone seq=2\n")
        session.hear("perform-task seq=3 deadline-ms=1 state=active kind=fetch")
        session.hear(Self.welcome)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `a callback that waits for its turn is not told twice`() {
        var session = managed()
        session.hear(callback(4, "will-resign-active"))
        session.hear(callback(4, "will-resign-active"))
        #expect(session.run() == ["will-resign-active active"])
        #expect(session.takeOutput() == "done seq=4\n")
    }

    @Test func `a repetition of an older callback and of an unknown one is answered`() {
        var session = managed()
        session.hear("glow seq=1")
        session.hear("glow seq=1")
        session.hear(callback(2))
        #expect(session.run().count == 1)
        session.hear(callback(1))
        #expect(session.run().isEmpty)
        #expect(session.takeOutput() == "done seq=1\ndone seq=1\ndone seq=2\ndone seq=1\n")
    }

    @Test func `a repetition changes neither the state nor the time in the background`() {
        var session = managed()
        session.hear(callback(1, "did-enter-background", "background") + " background-ms=30000", now: 0)
        _ = session.run()
        session.hear(callback(1, "did-enter-background", "background") + " background-ms=30000", now: 20_000)
        #expect(session.backgroundMillisecondsRemaining(now: 20_000) == 10_000)
        session.hear(callback(2, "will-enter-foreground", "background"))
        _ = session.run()
        session.hear(callback(2, "will-enter-foreground", "background"))
        _ = session.run()
        #expect(session.state == .inactive)
    }

    @Test func `grants, refusals and expirations that are repeated are no events`() {
        var session = managed()
        let task = session.beginTask(name: "a")
        let other = session.beginActivity(mode: "audio")
        for _ in 1...3 {
            session.hear("granted id=1")
            session.hear("refused id=2 reason=mode-not-declared")
            session.hear("expire-task id=1 deadline-ms=5000")
            session.hear(Self.welcome)
        }
        #expect(session.next() == .refused(other, reason: RefusalReason(.undeclared)))
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
        #expect(session.next() == nil)
    }

    @Test func secondWelcomeGetsTheAssertionsAndTheAnswers() {
        var session = managed()
        session.hear(callback(1))
        _ = session.run()
        _ = session.beginTask(name: "a")
        session.hear("granted id=1")
        let activity = session.beginActivity(mode: "audio")
        session.hear("granted id=2")
        session.endActivity(activity)
        _ = session.takeOutput()
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "begin-task id=1 name=a\nend-activity id=2\ndone seq=1\n")
    }

    @Test func `time that is left is requested again from a second daemon on the channel`() {
        var session = managed()
        session.hear(callback(1, "did-enter-background", "background") + " background-ms=30000", now: 0)
        _ = session.run()
        _ = session.takeOutput()
        session.askForTimeLeft()
        #expect(session.takeOutput() == "time-left\n")
        session.hear(Self.welcome)
        #expect(session.takeOutput() == "done seq=1\n")
        session.askForTimeLeft()
        #expect(session.takeOutput() == "time-left\n")
    }

    @Test func `a task that has ended is ended again when the daemon has not heard of it`() {
        var session = managed()
        let task = session.beginTask(name: "a")
        session.hear("granted id=1")
        session.endTask(task)
        _ = session.takeOutput()
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == nil)
        #expect(session.takeOutput() == "end-task id=1\n")
    }

    @Test func `empty lines mean nothing`() {
        var session = managed()
        session.hear("")
        session.hear("\n\n")
        session.hear(callback(1))
        #expect(session.run() == ["did-become-active active"])
    }

    @Test func reconnectingAppSendsItsPositionAssertionsAndAnswers() {
        var session = managed()
        session.hear(callback(1))
        session.hear(callback(2, "will-resign-active"))
        _ = session.run()
        _ = session.beginTask(name: "two words")
        let ended = session.beginTask(name: "b")
        session.hear("granted id=1")
        session.hear("granted id=2")
        session.endTask(ended)
        session.channelDidEnd()
        #expect(session.isManaged && session.isLost)
        #expect(session.takeOutput().isEmpty)

        session.resume()
        let output =
            "hello protocol=1 resume=2\nbegin-task id=1 name=two%20words\nend-task id=2\ndone seq=1\ndone seq=2\n"
        #expect(session.takeOutput() == output)
        session.hear(Self.welcome)
        session.hear("granted id=1")
        session.hear(callback(2, "will-resign-active"))
        session.hear(callback(3, "did-enter-background", "background"))
        #expect(session.run() == ["did-enter-background background"])
        #expect(session.takeOutput() == "done seq=2\ndone seq=3\n")
    }

    @Test func `an app that has heard nothing yet comes back with 0, and is launched then`() {
        var session = AppSession(hasChannel: true, canResume: true)
        session.channelDidEnd()
        #expect(session.run().isEmpty)
        session.resume()
        #expect(session.takeOutput() == "hello protocol=1 resume=0\n")
    }

    @Test func callbackHandledWithoutAChannelIsAnsweredOnTheNext() {
        var session = managed()
        session.hear(callback(7))
        session.channelDidEnd()
        session.hear("half a li")
        session.resume()
        #expect(session.takeOutput() == "hello protocol=1 resume=7\n", "the app is still dealing with it")
        #expect(session.run() == ["did-become-active active"])
        #expect(session.takeOutput() == "done seq=7\n")
    }

    @Test func `half a line of the old channel is not the beginning of the next one's`() {
        var session = managed()
        session.receive(Array("did-become-act".utf8), now: 0)
        session.channelDidEnd()
        session.resume()
        session.hear(Self.welcome)
        #expect(session.isOpen)
    }

    @Test func `tasks that begin and end while there is no channel`() {
        var session = managed()
        let asked = session.beginTask(name: "asked")
        session.endTask(asked)
        session.channelDidEnd()
        let short = session.beginTask(name: "short")
        _ = session.beginActivity(mode: "audio")
        session.endTask(short)
        #expect(session.takeOutput().isEmpty)
        session.resume()
        let output = session.takeOutput()
        #expect(output == "hello protocol=1 resume=0\nbegin-activity id=3 mode=audio\nend-task id=1\nend-task id=2\n")
    }

    @Test func `a task that has expired does not expire again for the next daemon`() {
        var session = managed()
        let task = session.beginTask(name: "a")
        session.hear("granted id=1")
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
        session.channelDidEnd()
        session.resume()
        session.hear(Self.welcome)
        session.hear("granted id=1")
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == nil)
    }

    @Test func taskThatExpiresAgainAfterARestartAndTheForegroundIsReported() {
        var session = managed()
        let task = session.beginTask(name: "a")
        session.hear("granted id=1")
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
        session.hear(Self.welcome)
        session.hear(callback(1, "will-enter-foreground", "background"))
        session.hear(callback(2, "did-enter-background", "background"))
        _ = session.run()
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
    }

    @Test func numberOfTasksThatWaitForAChannelIsLimited() {
        var session = managed()
        session.channelDidEnd()
        for _ in 0..<10_000 { _ = session.beginTask(name: String(repeating: "é", count: 64)) }
        session.resume()
        #expect(session.output.count < 256 << 10)
        guard case .refused(_, reason: RefusalReason(.tooMany)) = session.next() else {
            Issue.record("no refusal")
            return
        }
    }

    @Test func appKeepsItsStateAfterRepeatedRefusals() {
        var session = managed()
        session.hear(callback(1))
        _ = session.run()
        session.channelDidEnd()
        var attempts = 0
        while session.isLost, attempts < 1000 {
            session.resume()
            session.channelDidEnd()
            attempts += 1
        }
        #expect(attempts > 1 && attempts < 1000)
        #expect(!session.isManaged)
        #expect(session.run().isEmpty)
        #expect(session.state == .active)
    }

    @Test func `a welcome makes up for refusals`() {
        var session = managed()
        session.channelDidEnd()
        for _ in 0..<100 {
            session.resume()
            session.channelDidEnd()
            session.resume()
            session.hear(Self.welcome)
            session.channelDidEnd()
        }
        #expect(session.isLost)
    }

    @Test func `goodbye means goodbye`() {
        var session = managed()
        session.hear(callback(1))
        session.hear("goodbye reason=too-many-mistakes")
        session.channelDidEnd()
        #expect(!session.isLost && !session.isManaged)
        session.resume()
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `an app that was never launched and is not let back in is in the foreground`() {
        var session = AppSession(hasChannel: true, canResume: true)
        session.channelDidEnd()
        session.resume()
        session.hear("goodbye reason=not-an-app")
        #expect(session.run().last == "did-become-active active")
    }
}
