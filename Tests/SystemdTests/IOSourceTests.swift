import Glibc
import Systemd
import Testing

@Suite(.serialized) struct IOSourceTests {
    let loop: EventLoop
    let pipe: LoopPipe

    init() throws {
        loop = try EventLoop()
        pipe = try LoopPipe()
    }

    @Test func readinessAndEndOfStreamAreReported() throws {
        var text = ""
        let source = try loop.watch(descriptor: pipe.readEnd, events: .readable) { [loop, pipe] ready in
            guard ready.contains(.readable) else {
                #expect(ready.contains(.hangUp))
                return loop.exit(code: 0)
            }
            text += pipe.read()
            pipe.closeWriteEnd()
        }
        pipe.write("hello")
        try run(loop)
        #expect(text == "hello")
        extendLifetime(source)
    }

    @Test func changedEventsTakeEffect() throws {
        let writeEnd = try #require(pipe.writeEnd)
        var calls: [IOEvents] = []
        let source = try loop.watch(descriptor: writeEnd, events: []) { [loop] ready in
            calls.append(ready)
            loop.exit(code: 0)
        }
        let later = try loop.later {
            #expect(calls.isEmpty)
            source.events = .writable
        }
        later.setPriority(.idle)
        later.schedule()
        try run(loop)
        #expect(calls == [.writable])
        #expect(source.events == .writable)
    }

    @Test func aDisabledSourceKeepsItsInputForLater() throws {
        var isAllowed = false
        let source = try loop.watch(descriptor: pipe.readEnd, events: .readable) { [loop, pipe] _ in
            #expect(isAllowed)
            #expect(pipe.read() == "kept")
            loop.exit(code: 0)
        }
        source.isEnabled = false
        pipe.write("kept")
        let later = try loop.later {
            isAllowed = true
            source.isEnabled = true
        }
        later.setPriority(.idle)
        later.schedule()
        try run(loop)
    }

    @Test func aHandlerMayCancelItsOwnSource() throws {
        var source: IOSource?
        var calls = 0
        source = try loop.watch(descriptor: pipe.readEnd, events: .readable) { _ in
            calls += 1
            source?.cancel()
        }
        pipe.write("never read")
        try runUntilIdle()
        #expect(calls == 1)
        extendLifetime(source)
    }

    @Test func aHandlerMayDropTheLastReferenceToItsSource() throws {
        var source: IOSource?
        let witness = Witness()
        source = try loop.watch(descriptor: pipe.readEnd, events: .readable) { [weak witness] _ in
            source = nil
            witness?.calls += 1
        }
        pipe.write("never read")
        try runUntilIdle()
        #expect(witness.calls == 1)
        #expect(source == nil)
    }

    @Test func aSourceThatItsHandlerDropsIsNoLongerWatchedWhenTheHandlerGoesOn() throws {
        var source: IOSource?
        var next: IOSource?
        source = try loop.watch(descriptor: pipe.readEnd, events: .readable) { [loop, pipe] _ in
            source = nil
            // A watched descriptor cannot be watched twice, and must not be closed.
            next = try? loop.watch(descriptor: pipe.readEnd, events: .readable) { _ in loop.exit(code: 0) }
            #expect(next != nil)
        }
        pipe.write("never read")
        try runUntilIdle()
        #expect(source == nil)
    }

    @Test func cancellingLetsGoOfWhatTheHandlerHolds() throws {
        weak var held: Witness?
        let source = try {
            let witness = Witness()
            held = witness
            return try loop.watch(descriptor: pipe.readEnd, events: .readable) { _ in witness.calls += 1 }
        }()
        #expect(held != nil)
        source.cancel()
        #expect(held == nil)
    }

    @Test func aHandlerMayCancelAnotherSourceThatIsReadyToo() throws {
        let other = try LoopPipe()
        var sources: [IOSource] = []
        var calls = 0
        for descriptor in [pipe.readEnd, other.readEnd] {
            sources.append(
                try loop.watch(descriptor: descriptor, events: .readable) { _ in
                    calls += 1
                    sources.removeAll()
                })
        }
        pipe.write("1")
        other.write("2")
        try runUntilIdle()
        #expect(calls == 1)
    }

    @Test func mistakesAreErrorsWithAReadableText() throws {
        let error = #expect(throws: SystemdError.self) {
            _ = try loop.watch(descriptor: 4000, events: .readable) { _ in }
        }
        #expect(error?.errno == EBADF)
        #expect(error.map { "\($0)" } == "cannot watch descriptor 4000: Bad file descriptor")
    }

    @Test func aRegularFileCannotBeWatched() throws {
        let file = unsafe open("/etc/passwd", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let error = #expect(throws: SystemdError.self) {
            _ = try loop.watch(descriptor: file, events: .readable) { _ in }
        }
        #expect(error?.errno == EPERM)
    }

    /// Runs the loop until nothing of normal priority was ready any more.
    private func runUntilIdle() throws {
        let end = try loop.later { [loop] in loop.exit(code: 0) }
        end.setPriority(.idle)
        let afterOneRound = try loop.later { end.schedule() }
        afterOneRound.setPriority(.idle)
        afterOneRound.schedule()
        try run(loop)
    }
}

/// Something whose life and use can be seen.
private final class Witness {
    var calls = 0
}
