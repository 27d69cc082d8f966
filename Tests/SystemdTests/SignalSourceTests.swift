import Glibc
import Systemd
import Testing

@Suite(.serialized) struct SignalSourceTests {
    let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test func aSignalArrivesInTheLoopWithItsSender() throws {
        var received: [SignalInfo] = []
        let source = try loop.signal(SIGUSR1) { [loop] info in
            received.append(info)
            loop.exit(code: 0)
        }
        // To this thread only: the test runner's other threads do not block the signal.
        #expect(pthread_kill(pthread_self(), SIGUSR1) == 0)
        try run(loop)
        #expect(received.map(\.processID) == [getpid()])
        source.cancel()
    }

    @Test func cancellingLeavesTheSignalBlocked() throws {
        let source = try loop.signal(SIGUSR2) { _ in }
        source.cancel()
        var mask = sigset_t()
        #expect(unsafe pthread_sigmask(SIG_BLOCK, nil, &mask) == 0)
        #expect(unsafe sigismember(&mask, SIGUSR2) == 1)
    }

    @Test func aNumberThatIsNoSignalIsAnError() throws {
        let error = #expect(throws: SystemdError.self) { _ = try loop.signal(4711) { _ in } }
        #expect(error?.errno == EINVAL)
    }

    @Test func aSignalHasOneReceiver() throws {
        let first = try loop.signal(SIGUSR1) { _ in }
        let error = #expect(throws: SystemdError.self) { _ = try loop.signal(SIGUSR1) { _ in } }
        #expect(error?.errno == EBUSY)
        first.cancel()
    }
}
