import CommandLineTable
import ControlAPI
import Glibc
import LifecycleTypes

/// `lifectl log`
enum LogCommand {
    static func run(_ arguments: Arguments) throws(Failure) {
        let options = arguments.options
        var source = HistorySource(arguments, doing: "cannot show the log")
        source.query.app = arguments[.app]
        source.query.follows = arguments.has(.follow)
        source.query.lines = arguments.number(.lines) ?? (source.query.follows && source.query.since == nil ? 10 : nil)
        source.query.isVerbose = arguments.has(.debug)
        var isEmpty = true
        try source.read { entry throws(Failure) in
            isEmpty = false
            try options.show(entry) { present in "\(present.history(entry))\n" }
        }
        if isEmpty, let app = arguments[.app] { try requireApp(app, options) }
    }

    /// Fails if the daemon does not know an app. An app that is gone may have entries, so this is asked if there are none.
    private static func requireApp(_ app: String, _ options: CallOptions) throws(Failure) {
        do throws(Failure) {
            _ = try options.call(.describe, AppParameters(id: app), doing: "cannot show the log of \(app)")
        } catch {
            guard error.status == .noSuchApp else { return }
            throw error
        }
    }
}

extension HistoryEntry {
    /// Creates the entry of an event in the daemon's memory, with the message of the journal.
    init(_ event: APIHistoryEvent) {
        self.init(
            timeUSec: event.timeUSec, app: event.id, priority: nil, message: Self.message(for: event), event: event)
    }

    private static func message(for event: APIHistoryEvent) -> String {
        switch event.kind {
        case .transition:
            "\(event.id): \(event.from?.rawValue ?? "?") → \(event.to?.rawValue ?? "?") (\(event.reason.text))"
        case .callbackTimeout: "\(event.id) did not answer \(event.callback ?? "?") in time"
        case .killed: "\(event.id) did not end within its termination timeout, and was killed"
        case .launchFailed: "\(event.id) cannot be launched: \(event.error ?? "?")"
        case .exited:
            exitMessage(for: event)
                + (event.restoreFailed == true ? "; its next launch does not restore its state" : "")
        }
    }

    private static func exitMessage(for event: APIHistoryEvent) -> String {
        switch (event.exitCode, event.signal) {
        case (let code?, _): "\(event.id) ended with status \(code) (\(event.reason.text))"
        case (nil, let signal?): "\(event.id) was ended by \(SignalName.name(signal)) (\(event.reason.text))"
        case (nil, nil): "\(event.id) ended (\(event.reason.text))"
        }
    }
}

extension TextPresentation {
    /// Returns one line of an entry; with its date, unless that is today.
    func history(_ entry: HistoryEntry, withApp: Bool = true) -> String {
        let day = Instants.day(entry.timeUSec)
        let time = Instants.timeOfDay(entry.timeUSec)
        let moment = day == Instants.day(now) ? time : "\(day) \(time)"
        guard let event = entry.event, event.kind == .transition, let from = event.from, let to = event.to else {
            let message = Text.printable(entry.message)
            return "\(moment)  \(entry.priority.map { style.urgent(message, priority: $0) } ?? message)"
        }
        let app = withApp ? "\(Text.printable(event.id)): " : ""
        let answer = event.answerUSec.map { ", answered after \(Text.milliseconds($0))" } ?? ""
        return "\(moment)  \(app)\(style.state(from)) → \(style.state(to)) (\(event.reason.text)\(answer))"
    }
}

/// The origin of the history: the journal has all of it, the daemon's memory the last events.
enum HistoryOrigin: String, CaseIterable {
    case journal, daemon
}

extension CallOptions {
    /// Returns the apps that the daemon knows; none if it does not answer.
    func runningApps() -> [APIApp] { (try? call(.list, doing: "cannot list the apps").apps) ?? [] }
}

/// The part of the history that a command reads.
struct HistoryQuery {
    var app: String?
    /// The start, in microseconds since the epoch.
    var since: Int64?
    /// The number of the last entries to read; nil for all.
    var lines: Int?
    var follows = false
    var isVerbose = false
}

/// The history, from the journal or from the daemon's memory.
struct HistorySource {
    let options: CallOptions
    let action: String
    let origin: HistoryOrigin?
    var query = HistoryQuery()

    init(_ arguments: Arguments, doing action: String, now: Int64 = Instants.now) {
        options = arguments.options
        self.action = action
        origin = arguments.word(.from, of: HistoryOrigin.self)
        query.since = arguments[.since].flatMap { TimeArgument(argument: $0) }?.microseconds(now: now)
    }

    /// Reads the entries, the oldest first.
    func read(_ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure) {
        switch origin {
        case .daemon: return try readDaemon(DaemonConnection(options, doing: action), handle)
        case .journal: return try readJournal(of: JournalSource.users(options.choice), handle)
        case nil: break
        }
        let session: DaemonConnection
        let status: APIStatus
        do throws(Failure) {
            session = try DaemonConnection(options, doing: action)
            status = try session.call(.getStatus).status
        } catch {
            // A user who may not use the daemon may be permitted to read the journal.
            guard error.status == .unavailable || error.status == .notPermitted else { throw error }
            return try readWithoutDaemon(error, handle)
        }
        guard status.journal else { return try readDaemon(session, handle) }
        try readJournal(of: JournalSource.users(options.choice, of: status), handle)
    }

    /// Reads the events, the oldest first.
    func events() throws(Failure) -> [APIHistoryEvent] {
        var events: [APIHistoryEvent] = []
        try read { entry in if let event = entry.event { events.append(event) } }
        return events
    }

    // MARK: The journal

    private func readJournal(of users: [uid_t], _ handle: (HistoryEntry) throws(Failure) -> Void) throws(Failure) {
        guard let error = try JournalSource(users: users, query: query).read(handle) else { return }
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
        if query.follows { try StandardStream.error.write(note) }
        var isEmpty = true
        let journal = JournalSource(users: JournalSource.users(options.choice), query: query)
        let error = try journal.read { entry throws(Failure) in
            isEmpty = false
            try handle(entry)
        }
        if let error {
            throw Failure(
                absence.status, action, "\(absence.reason), and the journal cannot be read: \(error.reason)",
                remedy: absence.remedy)
        }
        if isEmpty { throw absence }
        if !query.follows { try StandardStream.error.write(note) }
    }

    // MARK: The daemon

    private func readDaemon(
        _ session: DaemonConnection, _ handle: (HistoryEntry) throws(Failure) -> Void
    ) throws(Failure) {
        // Subscribed before the history is read, so that no event is lost between the two.
        let subscription = query.follows ? try DaemonConnection(session.options, doing: action) : nil
        try subscription?.monitor()
        var known = try session.call(.history, HistoryParameters(id: query.app, limit: nil)).events.datable
        var events = known.filter { event in query.since.map { event.timeUSec >= $0 } ?? true }
        if let lines = query.lines { events = events.suffix(lines) }
        for event in events { try handle(HistoryEntry(event)) }
        while let change = try subscription?.nextChange(timeout: options.explicitTimeout) {
            guard let transition = change.transition, query.app == nil || transition.id == query.app else { continue }
            // A change is a transition. The history also has exits, missed callbacks and failed launches.
            var newest = try session.call(.history, HistoryParameters(id: query.app, limit: 32)).events.datable
            if known.last.map({ !newest.contains($0) }) ?? true {
                newest = try session.call(.history, HistoryParameters(id: query.app, limit: nil)).events.datable
            }
            for event in newest.newer(than: known) { try handle(HistoryEntry(event)) }
            known = newest
        }
        if query.follows {
            throw Failure.subscriptionEnded
        }
    }
}

extension [APIHistoryEvent] {
    /// The events whose times can be added and subtracted, which those of a hostile daemon may not be.
    var datable: [APIHistoryEvent] {
        filter { event in
            [event.timeUSec, event.answerUSec, event.stateUSec].allSatisfy { $0.map(Instants.range.contains) ?? true }
        }
    }

    /// Returns the events after those that were known before.
    func newer(than known: [APIHistoryEvent]) -> ArraySlice<APIHistoryEvent> {
        guard let last = known.last else { return self[...] }
        if let index = lastIndex(of: last) { return self[(index + 1)...] }
        // After the clock was set, all dates differ by the same time.
        let index = indices.last { index in
            let shift = self[index].timeUSec &- last.timeUSec
            return zip(self[...index].reversed(), known.reversed()).allSatisfy { event, former in
                var moved = former
                moved.timeUSec &+= shift
                return event == moved
            }
        }
        return self[(index.map { $0 + 1 } ?? 0)...]
    }
}
