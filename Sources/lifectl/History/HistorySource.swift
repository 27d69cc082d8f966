import ArgumentParser
import ControlAPI
import Glibc

/// Where history comes from.
enum HistoryPlace: String, ExpressibleByArgument, CaseIterable {
    /// The journal, which has all of it.
    case journal
    /// The daemon's memory, which has the last of it.
    case daemon
}

/// The options of the commands that look back.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From when on: a time (12:30, 2026-11-22, \"2026-11-22 12:30:00\", today) or how long ago (10min, 2h, 1d).",
            valueName: "time"),
        transform: TimeArgument.read)
    var since: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Where to look: journal or daemon. (default: the journal, if the daemon writes there)", valueName: "place"))
    var from: HistoryPlace?
}

/// What happened, wherever that is known from.
struct HistorySource {
    let options: GlobalOptions
    let action: String
    var app: String?
    /// From when on, in microseconds since the epoch.
    var since: Int64?
    var lines: Int?
    var follows = false
    var isVerbose = false
    var place: HistoryPlace?

    init(_ options: GlobalOptions, _ history: HistoryOptions, doing action: String, now: Int64 = Instants.now) {
        self.options = options
        self.action = action
        since = history.since?.microseconds(now: now)
        place = history.from
    }

    /// Gives everything, the oldest first.
    func read(_ take: (HistoryEntry) throws -> Void) throws {
        switch place {
        case .daemon: return try readDaemon(take)
        case .journal: return try readJournal(of: JournalSource.users(options.choice), take)
        case nil: break
        }
        let status: Status
        do throws(Failure) {
            var session = try Session(options, doing: action)
            status = try session.call(.getStatus).status
        } catch {
            // Who may read the journal is another matter than who may use the daemon.
            guard error.status == .unavailable || error.status == .notPermitted else { throw error }
            return try readWithoutDaemon(error, take)
        }
        guard status.journal else { return try readDaemon(take) }
        try readJournal(of: JournalSource.users(options.choice, of: status), take)
    }

    /// Everything that timelines and figures are made of, the oldest first.
    func events() throws -> [HistoryEvent] {
        var events: [HistoryEvent] = []
        try read { entry in if let event = entry.event { events.append(event) } }
        return events
    }

    // MARK: The journal

    private func readJournal(of users: [uid_t], _ take: (HistoryEntry) throws -> Void) throws {
        do {
            try journal(of: users).read(take)
        } catch let error as JournalSource.Unreadable {
            throw Failure(
                error.status, "cannot read the journal",
                "\(error.reason); 'lifectl log --from daemon' shows what the daemon remembers")
        }
    }

    /// Without a daemon there is still what it has written. That nobody answers is said all the same: it is why what is
    /// shown ends where it does, and where there is nothing to show it is the failure.
    private func readWithoutDaemon(_ absence: Failure, _ take: (HistoryEntry) throws -> Void) throws {
        let note = Failure(absence.status, "there is only what the journal has", absence.reason).line + "\n"
        // There is no end at which it could be said.
        if follows { try StandardStream.error.write(note) }
        var isEmpty = true
        do {
            try journal(of: JournalSource.users(options.choice)).read { entry in
                isEmpty = false
                try take(entry)
            }
        } catch let error as JournalSource.Unreadable {
            throw Failure(absence.status, action, "\(absence.reason); nor can the journal be read: \(error.reason)")
        }
        if isEmpty { throw absence }
        if !follows { try StandardStream.error.write(note) }
    }

    private func journal(of users: [uid_t]) -> JournalSource {
        JournalSource(users: users, app: app, since: since, lines: lines, follows: follows, isVerbose: isVerbose)
    }

    // MARK: The daemon

    private func readDaemon(_ take: (HistoryEntry) throws -> Void) throws {
        var session = try Session(options, doing: action)
        // Subscribed before the past is read, so that nothing falls between the two.
        var subscription = follows ? try Session(options, doing: action) : nil
        try subscription?.monitor()
        let reply = try session.call(.history, HistoryParameters(id: app, limit: nil))
        var events = reply.events.filter { event in since.map { event.time >= $0 } ?? true }
        if let lines { events = events.suffix(lines) }
        for event in events { try take(HistoryEntry(event)) }
        let last = reply.events.last?.time ?? 0
        while let change = try subscription?.nextChange(timeout: options.call.explicitTimeout) {
            guard let step = change.transition, step.time > last, app == nil || step.id == app else { continue }
            try take(
                HistoryEntry(
                    HistoryEvent(
                        kind: .transition, id: step.id, time: step.time, from: step.from, to: step.to,
                        reason: step.reason, pid: step.pid, callback: step.callback)))
        }
        if follows {
            throw Failure(status: .unavailable, message: "the daemon ended the subscription; is it shutting down?")
        }
    }
}
