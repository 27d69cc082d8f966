import Glibc
import LifecycleCore
import Processes
import Systemd

/// Keeps what the next daemon needs in the log, before the daemon acts on it: a daemon may be killed at any instant.
///
/// ``add(_:_:of:)`` adds to the present step, and ``commit()`` writes it, at the end of a turn at the latest. While the log cannot be
/// written or is full, the daemon keeps its apps running, launches no others, reports this once and tries again with each step.
final class StateLog {
    private enum Condition: Equatable {
        case good
        /// Everything is saved; more apps do not fit.
        case full
        /// Everything is saved; with more apps the next daemon might not be able to read it.
        case large
        case failing(Errno)
    }

    /// What the log says, the present step included.
    private(set) var state = SavedState()
    private let file: StateFile
    private let sizeLimit: Int
    private let log: any JournalSink
    /// True from ``begin(keeping:)`` to ``end()``.
    private var isBegun = false
    /// The lines of the present step.
    private var step: [UInt8] = []
    private var condition = Condition.good
    /// True while the file lacks a step, and so must be written anew.
    private var isBehind = false
    private let retry: TimerSource

    private static let retryDelay: UInt64 = 5_000_000

    /// - Parameter bootID: The identifier of this boot.
    /// - Parameter sizeLimit: The largest file that the next daemon reads, in bytes.
    init(
        path: String, bootID: String, events: Events, log: any JournalSink, sizeLimit: Int = SavedState.sizeLimit
    ) throws(SystemdError) {
        self.log = log
        self.sizeLimit = sizeLimit
        file = StateFile(path: path, header: SavedState.header(bootID: bootID), sizeLimit: sizeLimit)
        retry = try events.timer(.stateRetryDue)
    }

    /// Goes on with the state of the previous daemon.
    func restore(_ saved: SavedState) { state = saved }

    /// Begins to write, with everything that was added before.
    ///
    /// - Parameter isKept: Whether the records of an app are kept.
    func begin(keeping isKept: (AppID) -> Bool = { _ in true }) {
        for kind in StateKind.ofApp {
            for app in state.apps(with: kind) where !isKept(app) { add(kind, nil, of: app) }
        }
        isBegun = true
        isBehind = true
        replace()
    }

    /// Removes the log: there is nothing to restore.
    func end() {
        isBegun = false
        file.remove()
    }

    // MARK: Steps

    /// Adds a record to the present step, or that there is none any more.
    func add(_ kind: StateKind, _ record: SavedRecord?, of app: AppID? = nil) {
        add(StateLine(StateName(kind, app), record))
    }

    /// Saves a record as a step, with what was added before.
    func save(_ kind: StateKind, _ record: SavedRecord?, of app: AppID? = nil) {
        add(kind, record, of: app)
        commit()
    }

    /// Adds the changes of the core to the present step.
    func add(changesOf core: inout Engine) {
        for index in core.takeChangedIndexes() {
            let (id, record) = (core.latestID(of: index), core.savedRecord(of: index))
            add(StateLine(StateName(.app, id), record))
            guard core.knownApps[known: index]?.isRunning != true else { continue }
            // What was saved of its processes is over. A manifest or a desktop entry describes the next launch.
            for kind in [StateKind.launch, .channel, .resources] { add(StateLine(StateName(kind, id), nil)) }
            // An app that a client has just defined has no record yet.
            if core.knownApps[known: index]?.policy.isTransient != true {
                add(StateLine(StateName(.definition, id), nil))
            }
        }
        add(StateLine(StateName(.machine), core.savedRecord))
    }

    /// Saves a step of the core: its changes, and the transitions that are to be announced.
    func save(changesOf core: inout Engine, announcing announcements: [Announcement]) {
        add(changesOf: &core)
        for announcement in announcements {
            guard let record = announcement.record else { continue }
            add(StateLine(StateName(.transition, announcement.app), record))
        }
        commit()
    }

    /// Saves that every transition so far was announced, with what was added before.
    func noteAnnounced() { save(.announced, SavedRecord()) }

    private func add(_ line: StateLine) {
        if state.apply(line), isBegun { step += line.bytes }
    }

    /// Writes the present step.
    func commit() {
        guard isBegun, !step.isEmpty else { return }
        if isBehind || !file.append(step) {
            isBehind = true
            replace()
        }
        step.removeAll(keepingCapacity: true)
    }

    /// Writes everything anew. Called when no step is pending but one that could not be appended.
    private func replace() {
        do throws(Errno) {
            try file.replace(state.lines)
            isBehind = false
            setCondition(state.size > sizeLimit / 2 ? .large : file.hasRoom(for: state.size) ? .good : .full)
        } catch {
            setCondition(!isBehind && error.isLackOfSpace ? .full : .failing(error))
        }
    }

    /// Writes everything anew.
    ///
    /// - Returns: Whether the next daemon finds all of it.
    func flush() -> Bool {
        guard isBegun else { return false }
        commit()
        replace()
        return !isBehind
    }

    // MARK: Space

    /// Reserves space for another app.
    ///
    /// - Returns: The reason why there is none; nil if the app can be launched.
    @discardableResult
    func makeRoom() -> StartFailure? {
        let isGood = condition == .good && state.size <= sizeLimit / 2 && file.hasRoom(for: state.size)
        if isBegun, !isGood {
            commit()
            replace()
        }
        return objection
    }

    /// The reason why no app can be launched; nil if one can.
    var objection: StartFailure? {
        switch condition {
        case .good: nil
        case .full: .unrecorded(directory, Errno(rawValue: ENOSPC))
        case .failing(let error) where error.isLackOfSpace: .unrecorded(directory, Errno(rawValue: ENOSPC))
        case .large: .stateTooLarge(limit: sizeLimit / 2)
        case .failing(let error): .unrecorded(file.path, error)
        }
    }

    private var directory: String { String(file.path.prefix(upTo: file.path.lastIndex(of: "/") ?? file.path.endIndex)) }

    private func setCondition(_ new: Condition) {
        if new != .good { retry.arm(afterMicroseconds: Self.retryDelay) }
        let old = condition
        condition = new
        switch (old, new) {
        case (.good, .good), (.full, .full), (.large, .large), (.failing, .failing): break
        case (.full, .good): log.write(.info, "\(directory) has space again, and lifed launches apps again")
        case (.large, .good): log.write(.info, "the state of the apps is smaller again, and lifed launches apps again")
        case (.failing, .good): log.write(.info, "lifed saves the state of the apps again, in \(file.path)")
        case (_, .full): warn(.noRoomForState, "cannot launch apps: \(directory) is full; free some space")
        case (_, .large):
            warn(
                .noRoomForState,
                "cannot launch apps: the state of the apps has more than \(sizeLimit / 2) bytes; end apps with a large "
                    + "environment")
        case (_, .failing(let error)):
            warn(
                .stateNotKept,
                "cannot save the state of the apps in \(file.path): \(error); a restart of lifed loses them, and lifed "
                    + "launches no other apps", error)
        }
    }

    private func warn(_ id: MessageID, _ message: String, _ error: Errno? = nil) {
        var fields = [("LIFED_FILE", file.path)]
        if let error { fields.append(("LIFED_REASON", error.description)) }
        log.write(LogEntry(id: id, priority: .warning, message: message, fields: fields))
    }
}

nonisolated extension Errno {
    fileprivate var isLackOfSpace: Bool { rawValue == ENOSPC || rawValue == EDQUOT }
}
