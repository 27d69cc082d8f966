import ControlAPI
import Glibc

/// Follows a source until it is ended: waits for the source, the daemon and the time at once, and does what the follower
/// says. When the source or the daemon goes away it waits for the next one.
struct FollowRun {
    private let find: () throws(Failure) -> any Source
    private let name: String
    private let place: String
    private let reporter: FollowReporter
    private let isDryRun: Bool
    private let daemon: DaemonLink
    private let wishes: WishLink

    private var follower = Follower()
    private var source: (any Source)?
    /// Whether this source has said something. One that takes a connection and never says anything is none.
    private var isHeard = false
    private var wasEverHeard = false
    /// When a source that has not said anything yet counts as gone.
    private var silenceEnd: Int64 = 0
    /// The same for the daemon: whether it has answered since it was connected to.
    private var hasAnswered = false
    private var sourceRetry = Backoff()
    private var daemonRetry = Backoff()

    /// How long a source may take to say what it sees, in microseconds.
    private static let patience: Int64 = 5_000_000

    /// - Parameters:
    ///   - place: What a person asked to follow.
    ///   - name: What the source is called, in messages.
    ///   - find: Connects to the source; called again after it has gone.
    init(
        _ options: GlobalOptions, place: Follow.Place, name: String, isDryRun: Bool,
        find: @escaping () throws(Failure) -> any Source
    ) {
        self.find = find
        self.name = name
        self.place = place.rawValue
        self.isDryRun = isDryRun
        reporter = FollowReporter(options: options)
        daemon = DaemonLink(options)
        wishes = WishLink(options)
    }

    mutating func run() throws -> Never {
        while true {
            try findSource()
            try findDaemon()
            try act()
            wait()
            try readSource()
            if daemon.hasClosed { loseDaemon("it closed the connection") }
            if let outcome = wishes.outcome() { reporter.complain(outcome) }
        }
    }

    // MARK: Coming and going

    private mutating func findSource() throws(Failure) {
        guard source == nil, sourceRetry.isDue else { return }
        do throws(Failure) {
            source = try find()
            silenceEnd = FollowClock.now + Self.patience
        } catch {
            guard wasEverHeard else { throw error }
            sourceRetry.fail()
        }
    }

    private mutating func readSource() throws(Failure) {
        guard let source else { return }
        guard source.isReady else {
            if !isHeard, FollowClock.now >= silenceEnd { try loseSource("\(name) does not answer") }
            return
        }
        do throws(SourceLost) {
            guard let observation = try source.read() else { return }
            follower.see(observation, at: FollowClock.now)
        } catch {
            return try loseSource(error.reason)
        }
        guard !isHeard else { return }
        if wasEverHeard { reporter.complain("\(name) is there again") }
        isHeard = true
        wasEverHeard = true
        sourceRetry.succeed()
    }

    /// What has never said anything is an error, as one that is not there is. Of what comes and goes without a word nothing is
    /// said either, or there would be no end of it.
    private mutating func loseSource(_ reason: String) throws(Failure) {
        source = nil
        sourceRetry.fail()
        guard wasEverHeard else { throw Failure(status: .unavailable, message: "cannot follow \(place): \(reason)") }
        guard isHeard else { return }
        isHeard = false
        follower.loseSource(at: FollowClock.now)
        reporter.complain("\(name) has gone (\(reason)); waiting for it")
    }

    private mutating func findDaemon() throws(Failure) {
        guard !daemon.isConnected, daemonRetry.isDue else { return }
        do throws(ControlClientError) {
            try daemon.connect()
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

    private mutating func loseDaemon(_ why: String) {
        daemon.close()
        wishes.close()
        if hasAnswered || !daemonRetry.hasFailed { reporter.complain("lifed has gone (\(why)); waiting for it") }
        hasAnswered = false
        daemonRetry.fail()
        follower.loseDaemon()
    }

    // MARK: Acting

    private mutating func act() throws {
        while daemon.isConnected, let step = follower.next(at: FollowClock.now, isBusy: wishes.isBusy) {
            do throws(ControlClientError) {
                try take(step)
            } catch {
                switch error {
                case .declined(let answer): reporter.complain(Failure(answer).message)
                case .notPermitted, .notUnderstood, .parameterNotTaken: throw daemon.failure(error)
                default: loseDaemon(daemon.reason(error))
                }
            }
        }
        // What was said goes out before the next wait.
        try reporter.flush()
    }

    private mutating func take(_ step: Follower.Step) throws(ControlClientError) {
        switch step {
        case .find(let process):
            // Where that cannot be told it is nobody's, until it has the focus again.
            follower.found(nil, process: process)
            // A window can claim any number, and the daemon takes none that no process can have.
            guard process > 0, process <= Int64(Int32.max) else { return }
            var app = try daemon.call(.findApp, FindAppParameters(pid: process)).app
            noteAnswer()
            if app == nil { app = try adopt(process) }
            follower.found(app?.id, process: process)
        case .use(let use, let apps):
            follower.told(use, apps)
            if isDryRun { return reporter.note(step) }
            let reply = try daemon.call(.setInUse, SetInUseParameters(use: use, apps: apps))
            noteAnswer()
            reporter.noteIgnored(reply.ignored, use)
        case .leave: if isDryRun { reporter.note(step) }
        case .focus, .home:
            if isDryRun { return reporter.note(step) }
            try wishes.begin(step)
        }
    }

    /// A rule of `lifed.toml` may say that a program is to be an app whoever has started it. Where its window is, it is put
    /// like any other.
    private func adopt(_ process: Int64) throws(ControlClientError) -> App? {
        if isDryRun { return nil }
        return try daemon.call(.adopt, AdoptParameters(pid: process, background: true, byRule: true)).app
    }

    // MARK: Waiting

    private func wait() {
        var entries = [source?.descriptor, daemon.descriptor, wishes.descriptor].compactMap(\.self).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        var times: [Int64] = []
        if let source, source.isReady { times.append(0) }
        if source == nil { times.append(sourceRetry.due) } else if !isHeard { times.append(silenceEnd) }
        if !daemon.isConnected { times.append(daemonRetry.due) }
        if wishes.isBusy {
            times.append(wishes.patienceEnd)
        } else if daemon.isConnected, let deadline = follower.deadline {
            times.append(deadline)
        }
        let timeout = times.min().map { Int32(clamping: max(0, ($0 - FollowClock.now + 999) / 1000)) } ?? -1
        _ = unsafe poll(&entries, nfds_t(entries.count), timeout)
    }
}

/// The monotonic clock, and a look at a descriptor.
enum FollowClock {
    /// In microseconds, from any time.
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    static func isReadable(_ descriptor: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }
}

/// When to try again: soon at first, and then every few seconds.
struct Backoff {
    private static let shortest: Int64 = 100_000
    private static let longest: Int64 = 5_000_000

    private var delay = Backoff.shortest
    /// The time on ``FollowClock`` of the next try.
    private(set) var due: Int64 = 0
    private(set) var hasFailed = false

    var isDue: Bool { FollowClock.now >= due }

    mutating func fail() {
        due = FollowClock.now + delay
        delay = min(2 * delay, Self.longest)
        hasFailed = true
    }

    mutating func succeed() { self = Backoff() }
}
