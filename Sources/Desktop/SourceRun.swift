import Glibc
import Systemd

/// The first of some sources that tells anything, from one connection to the next, and what follows from its observations.
@MainActor struct SourceRun {
    private enum State {
        case absent
        /// Connected. Until the first observation, this may be a socket at which no program answers.
        case silent(any Source, until: Int64)
        case heard(any Source)
    }

    /// The object of "cannot follow".
    private let object: String
    private let candidates: () -> [SourceChoice]
    private var state = State.absent
    /// The candidates of this round that were not tried, and the ends of the others.
    private var untried: ArraySlice<SourceChoice> = []
    private var losses: [SourceLost] = []
    private var retry = RetryDelay()
    private var wasEverHeard = false
    /// The reason why no source was found; nil before the first round, and after one was found.
    private(set) var absence: DesktopFailure?
    var follower = Follower()

    /// The time that a source may take for its first observation, in microseconds.
    private static let patience: Int64 = 5_000_000

    init(_ object: String, candidates: @escaping () -> [SourceChoice]) {
        (self.object, self.candidates) = (object, candidates)
    }

    /// The instant at which the source has to be looked at without an event.
    var deadline: Int64? {
        switch state {
        case .absent: retry.due
        case .silent(_, let end): end
        case .heard: nil
        }
    }

    /// Connects to a source if that is due, and reads it.
    ///
    /// - Returns: The message about what has come or gone. A source that comes and goes without an observation is reported once,
    ///   because the reports would have no end.
    mutating func advance(on loop: EventLoop, at now: Int64) -> String? {
        while true {
            do throws(SourceLost) {
                if case .absent = state {
                    guard now >= retry.due else { return nil }
                    try connect(on: loop, at: now)
                }
                return try read(at: now)
            } catch {
                if case .heard(let source) = state { return lose(source, error, at: now) }
                losses.append(error)
                state = .absent
                if untried.isEmpty { return endRound(at: now) }
            }
        }
    }

    private mutating func connect(on loop: EventLoop, at now: Int64) throws(SourceLost) {
        if untried.isEmpty { (untried, losses) = (candidates()[...], []) }
        guard let next = untried.popFirst() else {
            throw SourceLost(
                reason: "none of SWAYSOCK, WAYLAND_DISPLAY and DISPLAY is set",
                remedy: "run 'systemctl --user import-environment' with them in the session, or name a source")
        }
        state = .silent(try next.find(on: loop), until: now + Self.patience)
    }

    private mutating func read(at now: Int64) throws(SourceLost) -> String? {
        switch state {
        case .absent: return nil
        case .silent(let source, let end):
            guard let observation = try source.read() else {
                guard now < end else { throw SourceLost(reason: "\(source.name) does not answer") }
                return nil
            }
            follower.observe(observation, at: now)
            defer { (state, untried, retry, wasEverHeard, absence) = (.heard(source), [], RetryDelay(), true, nil) }
            return wasEverHeard ? "\(source.name) is there again" : absence.map { _ in "\(source.name) is there" }
        case .heard(let source):
            if let observation = try source.read() { follower.observe(observation, at: now) }
            return nil
        }
    }

    private mutating func lose(_ source: any Source, _ loss: SourceLost, at now: Int64) -> String {
        state = .absent
        retry.fail(at: now)
        follower.loseSource(at: now)
        return "\(source.name) has gone (\(loss.reason)); waiting for it"
    }

    private mutating func endRound(at now: Int64) -> String? {
        retry.fail(at: now, longest: wasEverHeard ? RetryDelay.ordinary : RetryDelay.rare)
        guard !wasEverHeard, absence == nil else { return nil }
        let failure = DesktopFailure(
            EX_UNAVAILABLE, "cannot follow \(object)", losses.map(\.reason).joined(separator: ", and "),
            remedy: losses.lazy.compactMap(\.remedy).first ?? "start it")
        absence = failure
        return failure.message
    }
}

/// The time of the next attempt: soon at first, and then later and later.
struct RetryDelay {
    /// The longest delay for what was there before, in microseconds.
    static let ordinary: Int64 = 5_000_000
    /// The longest delay for what may never come.
    static let rare: Int64 = 60_000_000

    private var delay: Int64 = 100_000
    /// The instant of the next attempt, on the monotonic clock.
    private(set) var due: Int64 = 0
    private(set) var hasFailed = false

    mutating func fail(at now: Int64, longest: Int64 = ordinary) {
        due = now + delay
        delay = min(2 * delay, longest)
        hasFailed = true
    }
}
