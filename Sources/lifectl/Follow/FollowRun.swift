import ControlAPI
import Glibc

/// The main loop of `lifectl follow`: waits for the source, the daemon and the time at once, and performs the steps of the
/// follower. If the source or the daemon goes away, the loop waits for the next one.
struct FollowRun {
    private let find: () throws(Failure) -> any Source
    private let sourceName: String
    private let reporter: FollowReporter
    private let isDryRun: Bool
    private let daemon: DaemonLink
    private let foreground: ForegroundLink
    private let adoptions: AdoptionLink

    private var follower = Follower()
    private var source: (any Source)?
    /// The present source has made an observation. Until then it may be a socket at which no program answers.
    private var isHeard = false
    private var wasEverHeard = false
    /// The instant at which a source without an observation counts as gone.
    private var silenceEnd: Int64 = 0
    /// The daemon has answered over the present connection.
    private var hasAnswered = false
    private var sourceRetry = RetryDelay()
    private var daemonRetry = RetryDelay()

    /// The time that a source may take for its first observation, in microseconds.
    private static let patience: Int64 = 5_000_000

    /// - Parameters:
    ///   - sourceName: The name of the source, in messages of the command.
    ///   - find: Connects to the source; called again after the source has gone.
    init(
        _ options: CallOptions, sourceName: String, isDryRun: Bool, find: @escaping () throws(Failure) -> any Source
    ) throws(Failure) {
        (self.find, self.sourceName, self.isDryRun) = (find, sourceName, isDryRun)
        reporter = FollowReporter(options: options)
        let action = "cannot follow \(sourceName)"
        let target = DaemonTarget(options, sockets: try options.sockets(doing: action), doing: action)
        daemon = DaemonLink(target)
        foreground = ForegroundLink(target)
        adoptions = AdoptionLink(target)
    }

    mutating func run() throws(Failure) -> Never {
        while true {
            try findSource()
            try findDaemon()
            try act()
            wait()
            try readSource()
            if adoptions.hasNews() { follower.noteAdoption() }
            if daemon.hasClosed { loseDaemon("it closed the connection") }
            if let outcome = foreground.takeOutcome() { reporter.complain(outcome) }
        }
    }

    // MARK: The source

    private mutating func findSource() throws(Failure) {
        guard source == nil, sourceRetry.isDue else { return }
        do throws(Failure) {
            source = try find()
            silenceEnd = Instants.monotonic + Self.patience
        } catch {
            guard wasEverHeard else { throw error }
            sourceRetry.fail()
        }
    }

    private mutating func readSource() throws(Failure) {
        guard let source else { return }
        guard source.isReady else {
            if !isHeard, Instants.monotonic >= silenceEnd {
                try loseSource(SourceLost(reason: "\(source.name) does not answer"))
            }
            return
        }
        do throws(SourceLost) {
            guard let observation = try source.read() else { return }
            follower.observe(observation, at: Instants.monotonic)
        } catch {
            return try loseSource(error)
        }
        guard !isHeard else { return }
        if wasEverHeard { reporter.complain("\(source.name) is there again") }
        isHeard = true
        wasEverHeard = true
        sourceRetry.succeed()
    }

    /// Fails if no source has ever been heard. A source that comes and goes without an observation is not reported, because
    /// the reports would have no end.
    private mutating func loseSource(_ loss: SourceLost) throws(Failure) {
        let name = source?.name ?? "the source"
        source = nil
        sourceRetry.fail()
        guard wasEverHeard else {
            throw Failure(
                .unavailable, "cannot follow \(sourceName)", loss.reason,
                remedy: loss.remedy ?? "start \(name), and run the command again")
        }
        guard isHeard else { return }
        isHeard = false
        follower.loseSource(at: Instants.monotonic)
        reporter.complain("\(name) has gone (\(loss.reason)); waiting for it")
    }

    // MARK: The daemon

    private mutating func findDaemon() throws(Failure) {
        guard !daemon.isConnected, daemonRetry.isDue else { return }
        do throws(ControlClientError) {
            try daemon.connect()
            adoptions.open()
        } catch {
            if case .notPermitted = error { throw daemon.failure(error) }
            if !daemonRetry.hasFailed { reporter.complain("\(daemon.failure(error).message); waiting for it") }
            daemonRetry.fail()
        }
    }

    private mutating func noteAnswer() {
        guard !hasAnswered else { return }
        if daemonRetry.hasFailed { reporter.complain("lifed is there again") }
        hasAnswered = true
        daemonRetry.succeed()
    }

    private mutating func loseDaemon(_ reason: String) {
        daemon.close()
        foreground.close()
        adoptions.close()
        if hasAnswered || !daemonRetry.hasFailed { reporter.complain("lifed has gone (\(reason)); waiting for it") }
        hasAnswered = false
        daemonRetry.fail()
        follower.loseDaemon()
    }

    // MARK: Steps

    private mutating func act() throws(Failure) {
        while daemon.isConnected, let step = follower.next(at: Instants.monotonic, isBusy: foreground.isBusy) {
            do throws(ControlClientError) {
                try perform(step)
            } catch {
                switch error {
                case .declined(let answer): reporter.complain(Failure(answer, doing: "cannot \(step.words)").message)
                case .notPermitted, .notUnderstood, .parameterNotTaken: throw daemon.failure(error)
                case .absent, .untrusted, .unreachable, .closed, .timedOut, .callTooLong, .system:
                    loseDaemon(daemon.reason(error))
                }
            }
        }
        // The lines go out before the next wait.
        try reporter.flush()
    }

    private mutating func perform(_ step: Follower.Step) throws(ControlClientError) {
        switch step {
        case .find(let key):
            // After an error, the process belongs to no app until its window has the focus again.
            follower.setApp(nil, of: key)
            follower.setApp(try findApp(of: key.owner)?.id, of: key)
        case .use(let use, let apps):
            follower.setReported(use, apps)
            if isDryRun { return reporter.note(step) }
            let reply = try daemon.connection.client.call(.setInUse, SetInUseParameters(use: use, apps: apps))
            noteAnswer()
            reporter.noteIgnored(reply.ignored, use)
        case .leave: if isDryRun { reporter.note(step) }
        case .focus, .home:
            if isDryRun { return reporter.note(step) }
            try foreground.begin(step)
        }
    }

    private mutating func findApp(of owner: Item.Owner) throws(ControlClientError) -> APIApp? {
        let wanted: FindAppParameters
        switch owner {
        case .unknown: return nil
        case .process(let process), .claimedProcess(let process):
            // A window can claim any number, and the daemon takes none that no process can have.
            guard process <= Int64(Int32.max) else { return nil }
            wanted = FindAppParameters(pid: process)
        case .claimedApp(let id): wanted = FindAppParameters(appID: id)
        }
        let app = try daemon.connection.client.call(.findApp, wanted).app
        noteAnswer()
        // A rule of lifed.toml may make an app of the process. It stays in the background until the next step. A client that
        // claims the process of another program, or to be another app, must not have that suspended.
        guard app == nil, !isDryRun, case .process(let process) = owner else { return app }
        let parameters = AdoptParameters(pid: process, background: true, byRule: true)
        return try daemon.connection.client.call(.adopt, parameters).app
    }

    private func wait() {
        var times: [Int64] = []
        if let source, source.isReady { times.append(0) }
        if source == nil { times.append(sourceRetry.due) } else if !isHeard { times.append(silenceEnd) }
        if !daemon.isConnected { times.append(daemonRetry.due) }
        if foreground.isBusy {
            times.append(foreground.patienceEnd)
        } else if daemon.isConnected, let deadline = follower.deadline {
            times.append(deadline)
        }
        let timeout = times.min().map { Int32(clamping: max(0, ($0 - Instants.monotonic + 999) / 1000)) } ?? -1
        let descriptors = [source?.descriptor, daemon.descriptor, foreground.descriptor, adoptions.descriptor]
        DescriptorIO.wait(for: descriptors.compactMap { $0 }, milliseconds: timeout)
    }
}

/// The time of the next attempt: soon at first, and then every few seconds.
struct RetryDelay {
    private static let shortest: Int64 = 100_000
    private static let longest: Int64 = 5_000_000

    private var delay = RetryDelay.shortest
    /// The instant of the next attempt, on the monotonic clock.
    private(set) var due: Int64 = 0
    private(set) var hasFailed = false

    var isDue: Bool { Instants.monotonic >= due }

    mutating func fail() {
        due = Instants.monotonic + delay
        delay = min(2 * delay, Self.longest)
        hasFailed = true
    }

    mutating func succeed() { self = RetryDelay() }
}
