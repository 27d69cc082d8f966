import CLinux
import CommandLineTable
import ControlAPI

/// The origin of the history: the journal has all of it, the daemon's memory the last events.
enum HistoryOrigin: String, CaseIterable {
    case journal, daemon
}

extension CallOptions {
    /// Returns the apps that the daemon knows; none if it does not answer.
    func runningApps() -> [App] { (try? call(.list, doing: "cannot list the apps").apps) ?? [] }
}

/// The history, from the journal or from the daemon's memory.
struct HistorySource {
    let options: CallOptions
    let action: String
    var app: String?
    /// The start, in microseconds since the epoch.
    var since: Int64?
    var lines: Int?
    var follows = false
    var isVerbose = false
    var place: HistoryOrigin?

    init(_ arguments: Arguments, doing action: String, now: Int64 = Instants.now) {
        options = arguments.options
        self.action = action
        since = arguments[.since].flatMap { TimeArgument(argument: $0) }?.microseconds(now: now)
        place = arguments.word(.from, of: HistoryOrigin.self)
    }

    /// Reads the entries, the oldest first.
    func read(_ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure) {
        switch place {
        case .daemon: return try readDaemon(handle)
        case .journal: return try readJournal(of: JournalSource.users(options.choice), handle)
        case nil: break
        }
        let status: Status
        do throws(Failure) {
            status = try options.call(.getStatus, doing: action).status
        } catch {
            // A user who may not use the daemon may be permitted to read the journal.
            guard error.status == .unavailable || error.status == .notPermitted else { throw error }
            return try readWithoutDaemon(error, handle)
        }
        guard status.journal else { return try readDaemon(handle) }
        try readJournal(of: JournalSource.users(options.choice, of: status), handle)
    }

    /// Reads the events, the oldest first.
    func events() throws(Failure) -> [HistoryEvent] {
        var events: [HistoryEvent] = []
        try read { entry in if let event = entry.event { events.append(event) } }
        return events
    }

    // MARK: The journal

    private func readJournal(of users: [uid_t], _ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure) {
        guard let error = try journal(of: users).read(handle) else { return }
        throw Failure(
            error.status, "cannot read the journal", error.reason,
            remedy: "'lifectl log --from daemon' shows the events in the daemon's memory")
    }

    /// Reads the journal of a daemon that does not answer, and notes that: it is the reason why the entries end, and the
    /// failure if there are none.
    private func readWithoutDaemon(_ absence: Failure, _ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure)
    {
        let note =
            Failure(
                absence.status, "cannot read the daemon's memory", absence.reason, remedy: "showing the journal alone"
            ).line + "\n"
        // Output that follows the journal has no end.
        if follows { try StandardStream.error.write(note) }
        var isEmpty = true
        let error = try journal(of: JournalSource.users(options.choice)).read { entry throws(Failure) in
            isEmpty = false
            try handle(entry)
        }
        if let error {
            throw Failure(
                absence.status, action, "\(absence.reason), and the journal cannot be read: \(error.reason)",
                remedy: absence.remedy)
        }
        if isEmpty { throw absence }
        if !follows { try StandardStream.error.write(note) }
    }

    private func journal(of users: [uid_t]) -> JournalSource {
        JournalSource(users: users, app: app, since: since, lines: lines, follows: follows, isVerbose: isVerbose)
    }

    // MARK: The daemon

    private func readDaemon(_ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure) {
        var session = try Session(options, doing: action)
        // Subscribed before the history is read, so that no event is lost between the two.
        var subscription = follows ? try Session(options, doing: action) : nil
        try subscription?.monitor()
        let reply = try session.call(.history, HistoryParameters(id: app, limit: nil))
        var events = reply.events.filter { event in since.map { event.timeUSec >= $0 } ?? true }
        if let lines { events = events.suffix(lines) }
        for event in events { try handle(HistoryEntry(event)) }
        let last = reply.events.last?.timeUSec ?? 0
        while let change = try subscription?.nextChange(timeout: options.explicitTimeout) {
            guard let step = change.transition, step.timeUSec > last, app == nil || step.id == app else { continue }
            try handle(
                HistoryEntry(
                    HistoryEvent(
                        kind: .transition, id: step.id, timeUSec: step.timeUSec, from: step.from, to: step.to,
                        reason: step.reason, pid: step.pid, answerUSec: step.answerUSec)))
        }
        if follows {
            throw Failure.subscriptionEnded
        }
    }
}
