import AppChannel
import LifecycleClient
import LifecycleTypes
import Testing

@Suite struct SessionAssertionTests {
    private func managed() -> AppSession {
        var session = AppSession(hasChannel: true)
        session.receive(Array("welcome protocol=1 app-id=x\n".utf8), now: 0)
        _ = session.takeOutput()
        return session
    }

    @Test func `a task is asked for, granted and ended once`() {
        var session = managed()
        let task = session.beginTask(name: "two words")
        #expect(session.takeOutput() == "begin-task id=1 name=two%20words\n")
        session.hear("granted id=1")
        session.endTask(task)
        session.endTask(task)
        #expect(session.takeOutput() == "end-task id=1\n")
    }

    @Test func `a task that ends before it was granted is ended when it is`() {
        var session = managed()
        session.endTask(session.beginTask(name: "a"))
        #expect(session.takeOutput() == "begin-task id=1 name=a\n")
        session.hear("granted id=1")
        #expect(session.takeOutput() == "end-task id=1\n")
    }

    @Test func refusedAssertionIsReportedUnlessTheAppEndedIt() {
        var session = managed()
        let wanted = session.beginTask(name: "a")
        let ended = session.beginActivity(mode: "audio")
        session.endActivity(ended)
        _ = session.takeOutput()
        session.hear("refused id=1 reason=too-many-tasks")
        session.hear("refused id=2 reason=mode-not-declared")
        #expect(session.next() == .refused(wanted, reason: RefusalReason(.tooMany)))
        #expect(session.next() == nil)
        session.endTask(wanted)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `an activity is not a task`() {
        var session = managed()
        let activity = session.beginActivity(mode: "audio")
        session.hear("granted id=1")
        session.endTask(activity)
        #expect(session.takeOutput() == "begin-activity id=1 mode=audio\n")
        session.endActivity(activity)
        #expect(session.takeOutput() == "end-activity id=1\n")
    }

    @Test func `a task expires unless it has ended`() {
        var session = managed()
        let first = session.beginTask(name: "a")
        let second = session.beginTask(name: "b")
        session.hear("granted id=1")
        session.hear("granted id=2")
        session.hear("expire-task id=1 deadline-ms=5000")
        session.hear("expire-task id=2 deadline-ms=5000")
        session.hear("expire-task id=3 deadline-ms=5000")
        session.endTask(first)
        #expect(session.next() == .expire(second, deadlineMilliseconds: 5000))
        #expect(session.next() == nil)
        #expect(session.takeOutput().hasSuffix("end-task id=1\n"), "the library does not end what has expired")
    }

    @Test(arguments: [["will-enter-foreground", "did-enter-background"], []])
    func taskThatExpiresAgainIsReportedAgain(verbs: [String]) {
        var session = managed()
        let task = session.beginTask(name: "a")
        session.hear("granted id=1")
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
        // Without a callback, a use of the app ends the first expiration, and the app is not told.
        for (index, verb) in verbs.enumerated() {
            session.hear("\(verb) seq=\(index + 1) deadline-ms=1 state=background")
        }
        _ = session.run()
        session.hear("expire-task id=1 deadline-ms=5000")
        #expect(session.next() == .expire(task, deadlineMilliseconds: 5000))
    }

    @Test func `without a channel tasks come and go`() {
        var session = AppSession(hasChannel: false)
        _ = session.run()
        session.endTask(session.beginTask(name: "a"))
        #expect(session.takeOutput().isEmpty)
        #expect(session.next() == nil)
    }

    @Test func `any name fits a line`() {
        var session = managed()
        _ = session.beginTask(name: "a\u{0}b" + String(repeating: "é", count: 100_000))
        let output = session.takeOutput()
        #expect(output.hasPrefix("begin-task id=1 name=ab%C3%A9"))
        #expect(output.utf8.count < 8192)
    }

    @Test func `a daemon that does not read makes tasks be refused here`() {
        var session = managed()
        var asked = 0
        while !session.hasEvents, asked < 1_000_000 {
            _ = session.beginTask(name: "a")
            asked += 1
        }
        #expect(session.output.count < 128 << 10)
        guard case .refused(_, reason: RefusalReason(.tooMany)) = session.next() else {
            Issue.record("no refusal after \(asked) tasks")
            return
        }
    }
}
