import Glibc
import LifecycleCore
import Processes
import Systemd

/// Resumes a suspended app for as long as a process outside of it waits for a file lock that the app holds.
///
/// The kernel does not tell that a process waits for a lock. It is looked for when an app has been suspended with locks, on every
/// occasion while it is, and shortly after another process has opened one of the files; further openings meanwhile do not wake the
/// daemon. An app without locks costs no look: the kernel may take 10 ms to list the locks of the machine, because it waits for all
/// processors first.
final class FileLocks {
    private let loop: EventLoop
    private let processes: AppProcesses
    private let isStopped: (ProcessID) -> Bool
    private let report: (Set<AppIndex>, AnyObject) -> Void
    /// A file that a suspended app holds a lock on.
    private struct Watched {
        /// The path through the descriptor, so that it is this file, in the app's mount namespace and after a removal, too; nil if
        /// an access could wait for the server of the file system.
        let path: String?
        var source: InotifySource?
    }

    private var locked: [AppIndex: [LockedFile: Watched]] = [:]
    /// The apps that are waited for, with the processes that wait.
    private var awaited: [AppIndex: Set<ProcessID>] = [:]
    private var timer: TimerSource?
    private var delays: ArraySlice<UInt64> = []
    /// A Boolean value that indicates whether the files are not watched because one was opened a moment ago.
    private var isPaused = false

    private static let appLimit = 64
    private static let fileLimit = 64
    /// The pauses between looks after a file was opened, in microseconds. A process mostly asks for the lock at once.
    private static let delaysAfterOpening: [UInt64] = [20_000, 180_000, 800_000]
    /// The pauses between looks while an app is waited for; the last one is repeated. The app is running meanwhile.
    private static let delaysWhileAwaited: [UInt64] = [100_000, 400_000, 1_500_000, 3_000_000, 5_000_000]

    /// - Parameters:
    ///   - isStopped: Returns whether a process is one of a suspended app: it does not wait in earnest.
    ///   - report: Called with the apps that are waited for, and the reporter.
    init(
        loop: EventLoop, processes: AppProcesses, isStopped: @escaping (ProcessID) -> Bool,
        report: @escaping (Set<AppIndex>, AnyObject) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.processes = processes
        self.isStopped = isStopped
        self.report = report
        timer = try loop.timer { [weak self] in self?.look(isScheduled: true) }
    }

    /// Watches the files of an app that is suspended.
    ///
    /// - Parameter openFiles: Those of all its processes.
    func begin(_ app: AppIndex, _ openFiles: [OpenFile]) {
        guard locked[app] == nil, locked.count < Self.appLimit else { return }
        var files: [LockedFile: Watched] = [:]
        var mounts: Mounts?
        for open in openFiles {
            for file in open.locks where files[file] == nil && files.count < Self.fileLimit {
                let known = mounts ?? Mounts()
                mounts = known
                files[file] = Watched(path: known.areLocal(for: file) ? "/proc/\(open.process)/fd/\(open.number)" : nil)
            }
        }
        guard !files.isEmpty else { return }
        locked[app] = files
        if !isPaused { watchFiles() }
        look()
    }

    func end(_ app: AppIndex) { locked[app] = nil }

    func ended(_ app: AppIndex) {
        if awaited.removeValue(forKey: app) != nil { finishCheck() }
    }

    /// Returns the names of the programs that wait.
    func waiters(of app: AppIndex) -> [String] {
        (awaited[app] ?? []).compactMap { ProcessStatus(of: $0)?.name }.sorted()
    }

    private func watchFiles() {
        for (app, files) in locked {
            for (file, watched) in files where watched.source == nil {
                guard let path = watched.path else { continue }
                locked[app]?[file]?.source = try? loop.watch(path: path, mask: UInt32(IN_OPEN)) { [weak self] _ in
                    self?.noteOpening()
                }
            }
        }
    }

    /// Pauses the watches after an opening, and schedules looks. A process that opens a file again and again must not
    /// wake the daemon each time.
    private func noteOpening() {
        isPaused = true
        for (app, files) in locked { locked[app] = files.mapValues { Watched(path: $0.path) } }
        delays = Self.delaysAfterOpening[...]
        armNext()
    }

    /// Looks whether suspended apps are waited for, and whether the others still are.
    func look(isScheduled: Bool = false) {
        if isScheduled, isPaused, delays.isEmpty {
            isPaused = false
            watchFiles()
        }
        guard !locked.isEmpty || !awaited.isEmpty else {
            (delays, isPaused) = ([], false)
            return
        }
        let waits = LockWait.all()
        for (app, files) in locked { check(app, waits, locks: Set(files.keys)) }
        for app in awaited.keys where locked[app] == nil { check(app, waits, locks: nil) }
        finishCheck()
        if isScheduled { armNext() }
    }

    /// - Parameter locks: The files that the app holds locks on; nil if they are to be found.
    private func check(_ app: AppIndex, _ waits: [LockWait], locks: Set<LockedFile>?) {
        let own = Set(waits.isEmpty ? [] : processes.tree(of: app)?.processIDs ?? [])
        var found: Set<ProcessID> = []
        for wait in waits where !own.contains(wait.waiter) && !isStopped(wait.waiter) {
            // A lock that was taken before a fork may be a child's by now.
            let isHolder = wait.holder.map { own.contains($0) } ?? false
            if isHolder || holds(wait, own, locks) { found.insert(wait.waiter) }
        }
        awaited[app] = found.isEmpty ? nil : found
    }

    /// Returns whether the lock belongs to an open file of the app, though to none of its processes.
    private func holds(_ wait: LockWait, _ own: Set<ProcessID>, _ locks: Set<LockedFile>?) -> Bool {
        // A live holder elsewhere has the lock itself.
        if let holder = wait.holder, ProcessStatus(of: holder) != nil { return false }
        if let locks { return locks.contains(wait.file) }
        return own.contains { OpenFile.all(of: $0).contains { $0.locks.contains(wait.file) } }
    }

    private var reported: Set<AppIndex> = []

    private func finishCheck() {
        let apps = Set(awaited.keys)
        guard apps != reported else { return }
        let isNew = !apps.isSubset(of: reported)
        reported = apps
        report(apps, self)
        if isNew {
            delays = Self.delaysWhileAwaited[...]
            armNext()
        }
    }

    private func armNext() {
        if delays.isEmpty, !awaited.isEmpty { delays = Self.delaysWhileAwaited.suffix(1) }
        if let delay = delays.popFirst() { timer?.arm(atMicroseconds: loop.freshNow + delay) }
    }
}
