import AppChannel
import LifecycleClient
import LifecycleTypes
import TestSupport
import Testing

@Suite struct SessionTests {
    private func managed() -> AppSession {
        var session = AppSession(hasChannel: true)
        session.receive(Array("welcome protocol=1 app-id=x\n".utf8), now: 0)
        _ = session.takeOutput()
        return session
    }

    @Test func `the app says hello first`() {
        var session = AppSession(hasChannel: true)
        #expect(session.takeOutput() == "hello protocol=1\n")
        #expect(session.next() == nil)
        #expect(session.isManaged)
    }

    @Test func `without a channel the app is launched to the foreground`() {
        var session = AppSession(hasChannel: false)
        #expect(
            session.run() == [
                "will-finish-launching inactive", "did-finish-launching inactive", "did-become-active active",
            ])
        #expect(session.state == .active)
        #expect(session.takeOutput().isEmpty)
        #expect(!session.isManaged)
    }

    @Test func `when no daemon answers the hello the app is launched to the foreground`() {
        var session = AppSession(hasChannel: true)
        session.channelDidEnd()
        #expect(session.run().last == "did-become-active active")
        #expect(session.takeOutput().isEmpty)
    }

    @Test func appKeepsItsStateWhenTheChannelEnds() {
        var session = managed()
        session.hear("did-enter-background seq=1 deadline-ms=1 state=background background-ms=30000")
        #expect(session.run() == ["did-enter-background background"])
        session.channelDidEnd()
        #expect(session.run().isEmpty)
        #expect(session.state == .background)
        #expect(session.backgroundMillisecondsRemaining(now: 0) == nil)
        #expect(session.takeOutput().isEmpty)
    }

    @Test func stateIsThatOfTheCallbackAndThenItsSuccessor() {
        var session = managed()
        for (line, during, after) in [
            ("will-resign-active seq=1 deadline-ms=1 state=active", "active", RunningState.inactive),
            ("did-enter-background seq=2 deadline-ms=1 state=background", "background", .background),
            ("will-enter-foreground seq=3 deadline-ms=1 state=background", "background", .inactive),
            ("did-become-active seq=4 deadline-ms=1 state=active", "active", .active),
        ] {
            session.hear(line)
            #expect(session.run() == ["\(line.prefix { $0 != " " }) \(during)"])
            #expect(session.state == after)
        }
        #expect(session.takeOutput() == "done seq=1\ndone seq=2\ndone seq=3\ndone seq=4\n")
    }

    @Test func `an unknown callback is answered, an unreadable line left out`() {
        var session = managed()
        session.hear("receive-shadow seq=5 url=x")
        session.hear("nonsense")
        session.hear("did-become-active seq=x")
        session.hear("%%%")
        session.hear(String(repeating: "x", count: 9000))
        #expect(session.run().isEmpty)
        #expect(session.takeOutput() == "done seq=5\n")
    }

    @Test func `a request to terminate comes before everything, once, and nothing after it`() {
        var session = managed()
        session.hear("will-enter-foreground seq=1 deadline-ms=1 state=background")
        session.requestTermination()
        session.requestTermination()
        #expect(session.next() == .terminate)
        session.requestTermination()
        session.hear("did-become-active seq=2 deadline-ms=1 state=active")
        #expect(session.next() == nil)
        #expect(!session.hasEvents)
    }

    @Test func `after goodbye nothing is said`() {
        var session = managed()
        session.hear("goodbye reason=too-many-mistakes")
        #expect(!session.isManaged)
        _ = session.beginTask(name: "upload")
        #expect(session.takeOutput().isEmpty)
    }

    @Test func `background time runs from the callback and not in the foreground`() {
        var session = managed()
        session.hear("did-enter-background seq=1 deadline-ms=1 state=background background-ms=30000", now: 1000)
        #expect(session.backgroundMillisecondsRemaining(now: 1000) == 30000)
        #expect(session.backgroundMillisecondsRemaining(now: 21000) == 10000)
        #expect(session.backgroundMillisecondsRemaining(now: 99000) == 0)
        session.hear("will-enter-foreground seq=2 deadline-ms=1 state=background")
        #expect(session.backgroundMillisecondsRemaining(now: 2000) == nil)
        session.hear(
            "did-enter-background seq=3 deadline-ms=1 state=background background-ms=9223372036854775807", now: 1)
        #expect(session.backgroundMillisecondsRemaining(now: 1) == nil)
    }

    @Test func `a granted task and a woken app have the time that the daemon says`() {
        var session = managed()
        session.hear("did-enter-background seq=1 deadline-ms=1 state=background background-ms=30000", now: 0)
        session.hear("granted id=1 time-left-ms=12000", now: 1000)
        #expect(session.backgroundMillisecondsRemaining(now: 1000) == 12000)
        session.hear("granted id=2", now: 2000)
        #expect(session.backgroundMillisecondsRemaining(now: 2000) == 11000)
        session.hear("time-left", now: 2000)
        #expect(session.backgroundMillisecondsRemaining(now: 2000) == nil)
        session.hear("perform-task seq=2 deadline-ms=30000 state=background kind=fetch", now: 90_000)
        #expect(session.backgroundMillisecondsRemaining(now: 90_000) == 30000)
        session.hear("time-left time-left-ms=9223372036854775807", now: 90_000)
        #expect(session.backgroundMillisecondsRemaining(now: 90_000) == nil)
    }

    @Test func `a mistake is no news to an app with the library`() {
        var session = managed()
        session.hear("mistake reason=unknown-verb verb=jump")
        #expect(session.run().isEmpty && session.takeOutput().isEmpty && session.isManaged)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func everyCallbackIsAnsweredOnceAndInOrderForAnyInput(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var session = managed()
        var sent: [Int64] = []
        var bytes: [UInt8] = []
        for sequence in 1...Int64(40) {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes += (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            case 1: bytes += Array("granted id=\(sequence)\nexpire-task id=\(sequence) deadline-ms=1".utf8)
            default:
                let kind = Callback.allCases.randomElement(using: &generator) ?? .didBecomeActive
                let fields = "seq=\(sequence) deadline-ms=1 state=active url=u type=t kind=k scene=s"
                bytes += Array("\n\(kind.rawValue) \(fields)".utf8)
                sent.append(sequence)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        while !bytes.isEmpty {
            let count = Int.random(in: 1...50, using: &generator)
            session.receive(bytes.prefix(count), now: 0)
            bytes.removeFirst(min(count, bytes.count))
            _ = session.run()
        }
        #expect(session.takeOutput() == sent.map { "done seq=\($0)\n" }.joined(), "seed \(seed)")
    }
}
