import Glibc
import LifecycleCore
import Processes
import Systemd

/// Lists everything that a successor of the daemon needs.
protocol StateSource: AnyObject {
    var core: Engine { get }
    /// The transitions that were not announced, or whose entries are not in the journal.
    var unannounced: [Announcement] { get }
    /// Calls a function with each record of the state that is saved as text.
    func listState(_ save: (StateKind, SavedRecord) -> Void)
    /// The progress of the conversations on the channels of the apps.
    var channelsToSave: [(AppIndex, ChannelProgress)] { get }
    /// The resource values of the apps.
    var resourcesToSave: [(AppIndex, SavedResources)] { get }
}

/// Saves what a successor of the daemon needs before the daemon acts on it.
protocol StateStore: AnyObject {
    /// Set before ``begin()``.
    var source: (any StateSource)? { get set }
    /// The reason why no app can be launched; nil if one can.
    var objection: StartFailure? { get }

    /// Begins to save.
    ///
    /// - Parameter slots: The contents of the file of slots; nil if it has not been read, or there is none.
    func begin(with slots: SlotContents?)
    /// Records the changes of the core, to save them. ``save(announcing:)`` follows.
    func record(changesOf core: inout Engine)
    /// Saves the recorded changes, and the transitions to announce.
    func save(announcing effects: [Effect])
    /// Notes that every transition was announced, and the journal has the entries.
    func noteAnnounced()
    func save(_ kind: StateKind, _ record: SavedRecord)
    /// Adds the resource values of an app, which are saved with the next step or after a pause.
    func add(_ resources: SavedResources, at index: AppIndex)
    /// Saves what was added.
    func commit()
    /// Saves the progress of the conversation on the channel of an app.
    func save(_ progress: ChannelProgress, of id: AppID, at index: AppIndex)
    /// Saves the whole state.
    ///
    /// - Returns: Whether a successor finds all of it.
    func flush() -> Bool
    /// Reserves space for another app.
    ///
    /// - Returns: The reason why there is none; nil if the app can be launched.
    func makeRoom() -> StartFailure?
    /// Saves what could not be saved, after an app was forgotten whose record may have been too large.
    func retryWithLess()
    /// Removes the state: there is nothing to restore.
    func end()
}

extension StateStore {
    func begin() { begin(with: nil) }
}

/// Saves the state: what each change of an app changes in ``StateSlots``, the rest as text in a ``StateFile``.
///
/// While a file cannot be written or is full, the daemon keeps its apps running, launches no others, reports this once and
/// tries again.
final class FileStateStore: StateStore {
    private enum Condition: Equatable {
        case good
        /// Everything is saved; more apps do not fit.
        case full
        /// Everything is saved; with more apps a successor might not be able to read it.
        case large
        case failing(Errno)
    }

    weak var source: (any StateSource)?

    private let file: StateFile
    private let slotsHeader: [UInt8]
    private let loop: EventLoop
    private let log: any JournalSink
    private var isBegun = false
    /// The slots; nil before ``begin()``, and after a failure until everything is saved again.
    private var slots: StateSlots?
    private var condition = Condition.good
    private let retry: TimerSource
    /// Saves the resource values, with what else is saved in the same round.
    private let commitment: IdleSource

    private static let retryDelay: UInt64 = 5_000_000

    /// - Parameter bootID: The identifier of this boot.
    /// - Parameter sizeLimit: The largest file that a successor reads, in bytes.
    init(
        path: String, bootID: String, loop: EventLoop, log: any JournalSink, sizeLimit: Int = SavedState.sizeLimit
    ) throws(SystemdError) {
        self.loop = loop
        self.log = log
        file = StateFile(path: path, header: SavedState.header(bootID: bootID), sizeLimit: sizeLimit)
        slotsHeader = SavedState.slotsHeader(bootID: bootID)
        let owner = Owner<FileStateStore>()
        retry = try loop.timer { _ = owner.object?.makeRoom() }
        commitment = try loop.idle(isLast: true) { owner.object?.commit() }
        owner.object = self
    }

    func begin(with slots: SlotContents?) {
        isBegun = true
        replace(slots)
    }

    func flush() -> Bool {
        replace()
        return isBegun && !isFailing
    }

    func end() {
        isBegun = false
        file.remove()
        slots = nil
        StateSlots.remove(SavedState.slotsPath(file.path))
    }

    func record(changesOf core: inout Engine) {
        let changed = core.takeChangedIndexes()
        slots?.record(changed, of: &core)
    }

    func save(announcing effects: [Effect]) {
        let forgotten = slots?.add(effects) ?? []
        commit()
        guard !forgotten.isEmpty else { return }
        var lines: [UInt8] = []
        for id in forgotten { StateLine.append(.forget, SavedRecord(["id": id.name]), to: &lines) }
        write(lines)
    }

    func noteAnnounced() {
        slots?.noteAnnounced()
        commit()
    }

    func save(_ kind: StateKind, _ record: SavedRecord) {
        guard isBegun else { return }
        write(StateLine.encode(kind, record))
    }

    func add(_ resources: SavedResources, at index: AppIndex) {
        guard isBegun else { return }
        slots?.add(resources, at: index)
        commitment.schedule()
    }

    func save(_ progress: ChannelProgress, of id: AppID, at index: AppIndex) {
        guard isBegun else { return }
        slots?.add(progress, of: id, at: index)
        commit()
    }

    func commit() {
        do throws(Errno) {
            try slots?.commit()
        } catch {
            // The file is opened again, as by a successor, and gets everything.
            slots = nil
            replace()
        }
    }

    private var isFailing: Bool { if case .failing = condition { true } else { false } }

    private func write(_ lines: [UInt8]) {
        guard !lines.isEmpty, !isFailing else { return }
        if !file.append(lines) { replace() }
    }

    /// Saves everything.
    ///
    /// - Parameter contents: The contents of the file of slots, if they were just read.
    private func replace(_ contents: SlotContents? = nil) {
        guard isBegun, let source else { return }
        var error: Errno?
        if slots == nil {
            do throws(Errno) {
                let path = SavedState.slotsPath(file.path)
                slots = try StateSlots.open(path, header: slotsHeader, contents, saving: source)
            } catch let failure {
                error = failure
            }
        }
        // The text says that there are slots.
        if error == nil {
            error = file.replace { contents in source.listState { contents.add(StateLine.encode($0, $1)) } }
        }
        setCondition(error.map { .failing($0) } ?? (file.isLarge ? .large : hasRoom ? .good : .full))
    }

    private var hasRoom: Bool { !file.isLarge && file.hasRoom && slots?.hasRoom ?? false }

    // MARK: Space

    func makeRoom() -> StartFailure? {
        slots?.makeRoom()
        if isBegun, condition != .good || !hasRoom { replace() }
        return objection
    }

    var objection: StartFailure? {
        switch condition {
        case .good: nil
        case .full, .failing(Errno(rawValue: ENOSPC)), .failing(Errno(rawValue: EDQUOT)):
            .unrecorded(directory, Errno(rawValue: ENOSPC))
        case .large: .stateTooLarge(limit: file.launchLimit)
        case .failing(let error): .unrecorded(file.path, error)
        }
    }

    func retryWithLess() {
        if isFailing { replace() }
    }

    private var directory: String { String(file.path.prefix(upTo: file.path.lastIndex(of: "/") ?? file.path.endIndex)) }

    private func setCondition(_ new: Condition) {
        if new != .good { retry.arm(atMicroseconds: loop.freshNow + Self.retryDelay) }
        let old = condition
        condition = new
        switch (old, new) {
        case (.good, .good), (.full, .full), (.large, .large), (.failing, .failing): break
        case (.full, .good): log.write(.info, "\(directory) has space again, and lifed launches apps again")
        case (.large, .good): log.write(.info, "the state of the apps is smaller again, and lifed launches apps again")
        case (.failing, .good): log.write(.info, "lifed saves the state of the apps again, in \(file.path)")
        case (_, .full):
            log.write(
                LogEntry(
                    id: .noRoomForState, priority: .warning,
                    message: "cannot launch apps: \(directory) is full; free some space",
                    fields: [("LIFED_FILE", file.path)]))
        case (_, .large):
            log.write(
                LogEntry(
                    id: .noRoomForState, priority: .warning,
                    message:
                        "cannot launch apps: the state of the apps has more than \(file.launchLimit) bytes; end apps with "
                        + "a large environment",
                    fields: [("LIFED_FILE", file.path)]))
        case (_, .failing(let error)):
            log.write(
                LogEntry(
                    id: .stateNotKept, priority: .warning,
                    message:
                        "cannot save the state of the apps in \(file.path): \(error); a restart of lifed loses them, and "
                        + "lifed launches no other apps",
                    fields: [("LIFED_FILE", file.path), ("LIFED_REASON", error.description)]))
        }
    }
}
