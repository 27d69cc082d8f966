import Glibc
import Testing

@testable import Lifecycle

@MainActor
@Suite struct ApplicationTests {
    private let application = LifecycleApplication()
    private let delegate = RecordingDelegate()
    private let daemon: FakeDaemon

    init() throws {
        daemon = try FakeDaemon.greeting(application, delegate)
    }

    private func tell(_ verb: String, _ state: String, _ fields: String = "") throws {
        try daemon.post(verb, state, fields)
        application.dispatch()
    }

    @Test func `the delegate hears everything, with the state that the app is in`() throws {
        try tell("will-finish-launching", "inactive", " reason=launch")
        try tell("did-finish-launching", "inactive", " reason=launch")
        try tell("did-become-active", "active")
        try tell("will-resign-active", "active")
        #expect(application.applicationState == .inactive)
        try tell("did-enter-background", "background")
        try tell("will-enter-foreground", "background")
        #expect(application.applicationState == .inactive)
        #expect(
            delegate.log == [
                "willFinishLaunching inactive", "didFinishLaunching inactive", "didBecomeActive active",
                "willResignActive active", "didEnterBackground background", "willEnterForeground background",
            ])
        for sequence in 1...6 { #expect(try daemon.line() == "done seq=\(sequence)") }
    }

    @Test func `a delegate may leave out every method`() throws {
        final class Indifferent: LifecycleDelegate {}
        application.attach(try #require(application.client), Indifferent())
        try tell("will-finish-launching", "inactive")
        try tell("did-become-active", "active")
        try tell("open-url", "active", " url=x:y")
        try tell("continue-activity", "active", " type=x")
        try tell("perform-task", "background", " kind=fetch")
        try tell("significant-time-change", "active")
        let answers = ["", "", " handled=no", " handled=no", " result=no-data", ""]
        for (index, answer) in answers.enumerated() { #expect(try daemon.line() == "done seq=\(index + 1)\(answer)") }
    }

    @Test func launchOptionsHaveTheReasonAndThePreviousExit() throws {
        delegate.opens = false
        try tell(
            "will-finish-launching", "inactive",
            " reason=home restore=1 previous-state=suspended previous-reason=reclaim previous-time=1790000000 url=x:y")
        let exit = PreviousExit(state: "suspended", reason: "reclaim", secondsSince1970: 1_790_000_000)
        let options = LaunchOptions(reason: .home, shouldRestore: true, previousExit: exit, url: "x:y")
        #expect(delegate.options == [options])
        #expect(try daemon.line() == "done seq=1 handled=no")
        try tell("did-finish-launching", "inactive")
        #expect(delegate.options.last == LaunchOptions())
    }

    @Test func delegateOpensURLsAndActivitiesAndItsAnswerIsSent() throws {
        try tell("open-url", "inactive", " url=https://example.org/%3Fa type=text/html source=mail")
        try tell("continue-activity", "inactive", " type=org.example.read info=%7B%7D")
        delegate.opens = false
        try tell("open-url", "inactive", " url=x:y")
        try tell("continue-activity", "inactive", " type=org.example.read")
        #expect(
            delegate.log == [
                "open https://example.org/?a text/html mail inactive", "continue org.example.read {} inactive",
                "open x:y - - inactive", "continue org.example.read  inactive",
            ])
        for answer in ["yes", "yes", "no", "no"] { #expect(try daemon.line().hasSuffix(" handled=\(answer)")) }
    }

    @Test func workIsAnsweredOnceWhenItIsDone() throws {
        try tell("perform-task", "background", " kind=fetch payload=new%20mail")
        #expect(delegate.log == ["perform fetch new mail background"])
        let complete = delegate.complete
        try tell("memory-warning", "background")
        #expect(try daemon.line() == "done seq=2", "the work is not done")
        complete(.newData)
        complete(.failed)
        #expect(try daemon.line() == "done seq=1 result=new-data")
        try tell("perform-task", "background", " kind=fetch")
        delegate.complete(.failed)
        #expect(try daemon.line() == "done seq=3 result=failed")
    }

    @Test func workThatIsDoneAfterTheStopIsNotAnswered() throws {
        try tell("perform-task", "background", " kind=fetch")
        application.stop()
        delegate.complete(.newData)
        #expect(try daemon.isAtEnd())
    }

    @Test func `the delegate hears of the device`() throws {
        try tell("memory-warning", "active")
        try tell("protected-data-will-become-unavailable", "inactive")
        try tell("protected-data-did-become-available", "inactive")
        try tell("significant-time-change", "active")
        #expect(
            delegate.log == [
                "didReceiveMemoryWarning active", "protectedDataWillBecomeUnavailable inactive",
                "protectedDataDidBecomeAvailable inactive", "significantTimeChange active",
            ])
        for sequence in 1...4 { #expect(try daemon.line() == "done seq=\(sequence)") }
    }

    @Test func `observers hear the same`() async throws {
        var events = application.events.makeAsyncIterator()
        let told: [(verb: String, state: String, fields: String, event: LifecycleEvent)] = [
            ("will-finish-launching", "inactive", " reason=home", .willFinishLaunching(LaunchOptions(reason: .home))),
            ("did-finish-launching", "inactive", " reason=home", .didFinishLaunching(LaunchOptions(reason: .home))),
            ("did-become-active", "active", "", .didBecomeActive),
            ("will-resign-active", "active", "", .willResignActive),
            ("did-enter-background", "background", "", .didEnterBackground),
            ("will-enter-foreground", "background", "", .willEnterForeground),
            ("memory-warning", "inactive", "", .didReceiveMemoryWarning),
            ("protected-data-will-become-unavailable", "inactive", "", .protectedDataWillBecomeUnavailable),
            ("protected-data-did-become-available", "inactive", "", .protectedDataDidBecomeAvailable),
            ("significant-time-change", "inactive", "", .significantTimeChange),
        ]
        for (verb, state, fields, event) in told {
            try tell(verb, state, fields)
            #expect(await events.next() == event)
        }
    }

    @Test func `dispatching from within a callback does nothing`() throws {
        var heardMeanwhile: [String] = []
        delegate.whenActive = { [delegate] application in
            application.dispatch()
            heardMeanwhile = delegate.log
        }
        try daemon.post("did-become-active", "active")
        try daemon.post("will-resign-active", "active")
        application.dispatch()
        #expect(heardMeanwhile == ["didBecomeActive active"])
        #expect(delegate.log == ["didBecomeActive active", "willResignActive active"])
    }

    @Test func `an app that stops within a callback is told nothing more`() throws {
        delegate.whenActive = { application in application.stop() }
        try daemon.post("did-become-active", "active")
        try daemon.post("will-resign-active", "active")
        application.dispatch()
        #expect(delegate.log == ["didBecomeActive active"])
        #expect(try daemon.isAtEnd())
    }

    @Test func `a task is begun, expires and is ended by the app alone`() throws {
        var expired = 0
        let task = application.beginBackgroundTask(withName: "upload") { expired += 1 }
        #expect(try daemon.line() == "begin-task id=1 name=upload")
        try daemon.send("granted id=1")
        try tell("did-enter-background", "background", " background-ms=30000")
        #expect(try daemon.line() == "done seq=1")
        let remaining = try #require(application.backgroundTimeRemaining)
        #expect(remaining <= .seconds(30) && remaining > .seconds(0))
        #expect(try daemon.line() == "time-left", "the library asks for what the next look finds")
        try daemon.send("time-left time-left-ms=12000")
        application.dispatch()
        #expect(try #require(application.backgroundTimeRemaining) <= .seconds(12))
        #expect(try daemon.line() == "time-left")
        #expect(application.backgroundTimeRemaining != nil, "and asks one question at a time")
        try daemon.send("expire-task id=1 deadline-ms=5000")
        application.dispatch()
        #expect(expired == 1)
        try tell("will-enter-foreground", "background")
        #expect(try daemon.line() == "done seq=2", "the library has not ended the task")
        #expect(application.backgroundTimeRemaining == nil)
        application.endBackgroundTask(task)
        #expect(try daemon.line() == "end-task id=1")
        application.endBackgroundTask(task)
        application.endBackgroundTask(.invalid)
        try tell("did-become-active", "active")
        #expect(try daemon.line() == "done seq=3")
    }

    @Test func taskThatExpiresAgainCallsItsHandlerAgain() throws {
        var expired = 0
        let task = application.beginBackgroundTask { expired += 1 }
        try daemon.send("granted id=1")
        for verb in ["did-enter-background", "will-enter-foreground", "did-enter-background"] {
            try tell(verb, "background")
            guard verb == "did-enter-background" else { continue }
            try daemon.send("expire-task id=1 deadline-ms=5000")
            application.dispatch()
        }
        #expect(expired == 2)
        application.endBackgroundTask(task)
        try daemon.send("expire-task id=1 deadline-ms=5000")
        application.dispatch()
        #expect(expired == 2)
    }

    @Test func `a refused task has no time left, a refused activity says why`() throws {
        var expired = 0
        var refusals: [ActivityRefusal] = []
        _ = application.beginBackgroundTask { expired += 1 }
        _ = application.beginActivity(.audio) { refusals.append($0) }
        #expect(try daemon.line() == "begin-task id=1 name=task")
        #expect(try daemon.line() == "begin-activity id=2 mode=audio")
        try daemon.send("refused id=1 reason=too-many-tasks")
        try daemon.send("refused id=2 reason=mode-not-declared")
        application.dispatch()
        #expect(expired == 1)
        #expect(refusals == [.modeNotDeclared])
    }

    @Test func `an app that was not started has no state and no tasks`() {
        let application = LifecycleApplication()
        application.dispatch()
        #expect(application.applicationState == .inactive)
        #expect(application.beginBackgroundTask() == .invalid)
        #expect(application.beginActivity(.audio) == .invalid)
        #expect(application.backgroundTimeRemaining == nil)
        #expect(!application.isManaged)
    }
}
