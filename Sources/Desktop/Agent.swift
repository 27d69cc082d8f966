public import ControlAPI
import Glibc
import LifecycleTypes
import Systemd

/// The program in the user's session that tells the daemon what is in use on the screen and in the loudspeakers.
///
/// An ordinary client of the control socket. One loop waits for the sources, the daemon and the time at once; after each event a
/// turn reads everything, and performs the steps of the followers. What has gone is waited for.
@MainActor public final class Agent {
    private let isDryRun: Bool
    private let loop: EventLoop
    private let timer: TimerSource
    private let daemon: DaemonLink
    private var sources: [SourceRun]
    /// The daemon has answered over the present connection.
    private var hasAnswered = false
    private var daemonRetry = RetryDelay()
    /// The apps whose ignored use was reported.
    private var reported: Set<String> = []
    private var failure: DesktopFailure?

    /// - Parameters:
    ///   - source: The only source; nil for the windows of the session and the sound.
    ///   - daemon: The daemon to tell.
    ///   - isDryRun: True to print what would be done, and change nothing.
    /// - Throws: ``DesktopFailure`` if the daemon can have no socket, or the kernel has no descriptors left.
    public init(
        source: SourceChoice?, daemon choice: SocketPath.Choice, isDryRun: Bool
    ) throws(DesktopFailure) {
        self.isDryRun = isDryRun
        let sockets = SocketPath.candidates(choice, environment: variable)
        guard !sockets.isEmpty else {
            throw DesktopFailure(
                EX_UNAVAILABLE, "cannot call lifed",
                "XDG_RUNTIME_DIR is not set, so the user's own daemon has no socket",
                remedy: "name its socket with --socket")
        }
        do throws(SystemdError) {
            loop = try EventLoop()
            timer = try loop.timer {}
        } catch {
            throw DesktopFailure(EX_OSERR, "cannot start", error.description, remedy: "")
        }
        daemon = DaemonLink(choice, sockets: sockets, loop: loop)
        if let source {
            sources = [SourceRun(source.rawValue) { [source] }]
        } else {
            let windows = SourceRun("the windows") { [loop] in
                SourceChoice.screens(variable: variable) { (try? LocalSocket(path: $0, loop: loop)) != nil }
            }
            sources = [windows, SourceRun("sound") { [.sound] }]
        }
    }

    /// Runs until it is interrupted.
    ///
    /// - Throws: ``DesktopFailure`` if none of the sources is there at the start, or the daemon refuses the calls.
    public func run() throws(DesktopFailure) {
        turn()
        if let failure { throw failure }
        do throws(SystemdError) {
            _ = try loop.run { turn() }
        } catch {
            throw DesktopFailure(EX_OSERR, "cannot go on", error.description, remedy: "")
        }
        if let failure { throw failure }
    }

    /// Reads everything, and does what follows from it.
    private func turn() {
        guard failure == nil else { return }
        do throws(DesktopFailure) {
            try readSources()
            if daemon.hasAdoptions() { for index in sources.indices { sources[index].follower.noteAdoption() } }
            if daemon.hasClosed { loseDaemon("it closed the connection") }
            if let (step, error) = daemon.takeOutcome() {
                Output.complain(DesktopFailure(error, doing: "cannot \(step.words)").message)
            }
            try findDaemon()
            for index in sources.indices { try act(for: index) }
            armTimer()
        } catch {
            failure = error
            loop.exit(code: error.status)
        }
    }

    private var now: Int64 { Int64(clamping: loop.freshNow) }

    private func armTimer() {
        var times = sources.compactMap(\.deadline)
        if !daemon.isConnected {
            times.append(daemonRetry.due)
        } else if let deadline = daemon.foregroundDeadline(at: now) {
            times.append(deadline)
        } else {
            times += sources.compactMap(\.follower.deadline)
        }
        if let next = times.min() { timer.arm(atMicroseconds: UInt64(max(0, next))) } else { timer.disarm() }
    }

    // MARK: Sources

    private func readSources() throws(DesktopFailure) {
        for index in sources.indices {
            guard let message = sources[index].advance(on: loop, at: now) else { continue }
            if let absence = sources[0].absence, sources.allSatisfy({ $0.absence != nil }) { throw absence }
            Output.complain(message)
        }
    }

    // MARK: The daemon

    private func findDaemon() throws(DesktopFailure) {
        guard !daemon.isConnected, now >= daemonRetry.due else { return }
        do throws(ControlClientError) {
            guard try !daemon.connect(), !daemonRetry.hasFailed else { return }
            let socket = daemon.sockets.first ?? ""
            Output.complain("warning: \(socket) belongs to another user, whose daemon can see which apps you use")
        } catch {
            let failure = failure(error)
            if case .notPermitted = error { throw failure }
            if !daemonRetry.hasFailed { Output.complain("\(failure.message); waiting for it") }
            daemonRetry.fail(at: now)
        }
    }

    private func noteAnswer() {
        guard !hasAnswered else { return }
        if daemonRetry.hasFailed { Output.complain("lifed is there again") }
        (hasAnswered, daemonRetry) = (true, RetryDelay())
    }

    private func loseDaemon(_ reason: String) {
        daemon.close()
        if hasAnswered || !daemonRetry.hasFailed { Output.complain("lifed has gone (\(reason)); waiting for it") }
        hasAnswered = false
        daemonRetry.fail(at: now)
        for index in sources.indices { sources[index].follower.loseDaemon() }
    }

    private func failure(_ error: ControlClientError) -> DesktopFailure {
        DesktopFailure(error, sockets: daemon.sockets)
    }

    // MARK: Steps

    private func act(for index: Int) throws(DesktopFailure) {
        while daemon.isConnected,
            let step = sources[index].follower.next(at: now, isBusy: daemon.foregroundDeadline(at: now) != nil)
        {
            do throws(ControlClientError) {
                try perform(step, for: index)
            } catch {
                switch error {
                case .declined(let answer):
                    Output.complain(DesktopFailure(answer, doing: "cannot \(step.words)").message)
                case .notPermitted, .notUnderstood, .parameterNotTaken: throw failure(error)
                case .timedOut: loseDaemon("it does not answer")
                case .closed: loseDaemon("it closed the connection")
                case .absent, .untrusted, .unreachable, .callTooLong, .system: loseDaemon(failure(error).message)
                }
            }
            if isDryRun, step.isShown { try Output.write("would \(step.words)\n") }
        }
    }

    private func perform(_ step: Follower.Step, for index: Int) throws(ControlClientError) {
        switch step {
        case .find(let key):
            // After an error, the process belongs to no app until its window has the focus again.
            sources[index].follower.setApp(nil, of: key)
            sources[index].follower.setApp(try findApp(of: key.owner)?.id, of: key)
        case .use(let use, let apps):
            sources[index].follower.setReported(use, apps)
            guard !isDryRun else { return }
            let reply = try daemon.call(.setInUse, SetInUseParameters(use: use, apps: apps))
            noteAnswer()
            noteIgnored(reply.ignored, use)
        case .focus, .home: if !isDryRun { try daemon.begin(step, at: now) }
        case .leave: break
        }
    }

    private func findApp(of owner: Item.Owner) throws(ControlClientError) -> APIApp? {
        let wanted: FindAppParameters
        switch owner {
        case .unknown: return nil
        case .process(let process), .claimedProcess(let process):
            // A window can claim any number, and the daemon takes none that no process can have.
            guard process <= Int64(Int32.max) else { return nil }
            wanted = FindAppParameters(pid: process)
        case .claimedApp(let id): wanted = FindAppParameters(appID: id)
        }
        let app = try daemon.call(.findApp, wanted).app
        noteAnswer()
        // A rule of lifed.toml may make an app of the process. It stays in the background until the next step. A client that
        // claims the process of another program, or to be another app, must not have that suspended.
        guard app == nil, !isDryRun, case .process(let process) = owner else { return app }
        return try daemon.call(.adopt, AdoptParameters(pid: process, background: true, byRule: true)).app
    }

    private func noteIgnored(_ apps: [String], _ use: Use) {
        guard let why = use.whyIgnored else { return }
        for app in apps where reported.insert(app).inserted { Output.complain("\(app) \(why)") }
    }
}
