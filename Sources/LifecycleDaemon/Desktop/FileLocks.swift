import Glibc
import LifecycleCore
import Processes
import Systemd

/// Resumes a suspended app for as long as a process outside of it waits for a file lock that the app holds.
///
/// The kernel does not report such a wait, and may take 10 ms to list the locks. The daemon looks when an app with locks is suspended, on
/// every occasion while it is, and shortly after another process has opened one of the files, but not for each further opening.
final class FileLocks {
    private let loop: EventLoop
    private let processes: AppProcesses
    private let log: any JournalSink
    private let findWaits: () -> [LockWait]
    private let isStopped: (ProcessID) -> Bool
    private let report: (Set<AppIndex>, AnyObject) -> Void
    /// A file that a suspended app holds a lock on.
    private struct Watched {
        /// The descriptor that the lock was found through.
        let open: OpenFile
        /// The path through the descriptor, so that it is this file, in the app's mount namespace and after a removal, too; nil if
        /// an access could wait for the server of the file system.
        let path: String?
        var source: InotifySource?
    }

    private var locked: [AppIndex: [LockedFile: Watched]] = [:]
    /// An app that is waited for.
    private struct Awaited {
        let waiters: Set<ProcessID>
        /// The files that the app held locks on when it was suspended.
        let files: [LockedFile: OpenFile]
    }

    /// The apps that a process waits for in earnest, as of the last look.
    private var awaited: [AppIndex: Awaited] = [:]
    private let timer: TimerSource
    private var delays: ArraySlice<UInt64> = []
    /// The earliest time of the next look, in microseconds.
    private var nextLook: UInt64 = 0
    /// A Boolean value that indicates whether the files are not watched because one was opened a moment ago.
    private var isPaused = false
    private var hasReported = false

    private static let appLimit = 64
    static let fileLimit = 64
    /// The number of waits for the files of one app that are examined in one look.
    private static let waitLimit = 32
    /// The time that a list of the waits may take without a rest after it, in microseconds, and the rest as a multiple of the time.
    private static let usualListingTime: UInt64 = 200_000
    private static let restFactor: UInt64 = 100
    /// The pauses between looks after a file was opened, in microseconds. A process mostly asks for the lock at once.
    private static let delaysAfterOpening: [UInt64] = [20_000, 180_000, 800_000]
    /// The pauses between looks while an app is waited for; the last one is repeated. The app is running meanwhile.
    private static let delaysWhileAwaited: [UInt64] = [100_000, 400_000, 1_500_000, 3_000_000, 5_000_000]

    /// - Parameters:
    ///   - findWaits: Returns the waits for locks of the whole machine.
    ///   - isStopped: Returns whether a process is one of a suspended app: it does not wait in earnest.
    ///   - report: Called with the apps that are waited for, and the reporter.
    init(
        loop: EventLoop, processes: AppProcesses, log: any JournalSink,
        findWaits: @escaping () -> [LockWait] = LockWait.all,
        isStopped: @escaping (ProcessID) -> Bool, report: @escaping (Set<AppIndex>, AnyObject) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.processes = processes
        self.log = log
        self.findWaits = findWaits
        self.isStopped = isStopped
        self.report = report
        let owner = Owner<FileLocks>()
        timer = try loop.timer { owner.object?.look(isScheduled: true) }
        owner.object = self
    }

    /// Watches the files of an app that is suspended.
    ///
    /// - Parameter files: Those that its processes hold locks on.
    func begin(_ app: AppIndex, _ files: [LockedFile: OpenFile]) {
        guard !files.isEmpty, locked[app] == nil, locked.count < Self.appLimit else { return }
        let mounts = Mounts()
        var watched: [LockedFile: Watched] = [:]
        for (file, open) in files {
            let path = mounts.areLocal(for: file) ? "/proc/\(open.process)/fd/\(open.number)" : nil
            watched[file] = Watched(open: open, path: path)
        }
        locked[app] = watched
        if !isPaused { watchFiles() }
        look()
    }

    func end(_ app: AppIndex) { locked[app] = nil }

    func ended(_ app: AppIndex) {
        if awaited.removeValue(forKey: app) != nil { finishCheck() }
    }

    /// Returns the names of the programs that wait.
    func waiters(of app: AppIndex) -> [String] {
        (awaited[app]?.waiters ?? []).compactMap { (try? ProcessStatus(of: $0))?.name }.sorted()
    }

    private func watchFiles() {
        for (app, files) in locked {
            locked[app] = files.mapValues { watched in
                guard watched.source == nil, let path = watched.path else { return watched }
                return Watched(open: watched.open, path: path, source: watch(path))
            }
        }
    }

    private func watch(_ path: String) -> InotifySource? {
        do throws(SystemdError) {
            return try loop.watch(path: path, mask: UInt32(IN_OPEN)) { [weak self] _ in self?.noteOpening() }
        } catch {
            // A process that has just ended holds no lock.
            if error.errno != ENOENT { reportOnce(error) }
            return nil
        }
    }

    private func reportOnce(_ error: SystemdError) {
        guard !hasReported else { return }
        hasReported = true
        log.write(
            .notice,
            "cannot watch the locked files of suspended apps: \(error); looking for waiting processes after each change instead"
        )
    }

    /// Pauses the watches after an opening, and schedules looks. A process that opens a file again and again must not
    /// wake the daemon each time.
    private func noteOpening() {
        isPaused = true
        for (app, files) in locked { locked[app] = files.mapValues { Watched(open: $0.open, path: $0.path) } }
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
        guard loop.freshNow >= nextLook else {
            timer.arm(atMicroseconds: nextLook)
            return
        }
        checkAll()
        finishCheck()
        if isScheduled { armNext() }
    }

    private func checkAll() {
        let files = locked.mapValues { $0.mapValues(\.open) }.merging(awaited.mapValues(\.files)) { current, _ in
            current
        }
        let waits = listWaits()
        let own = waits.isEmpty ? [:] : ownProcesses(of: files.keys)
        // Any user can make thousands of waits for files of their own. The threads of a process are one waiter.
        let names = Set(files.values.joined().map(\.key))
        let holders = Set(own.values.joined())
        let relevant = Set(
            waits.lazy.filter { wait in
                names.contains(wait.file) || (wait.holder.map { holders.contains($0) } ?? false)
            })
        for (app, files) in files {
            let waiters = relevant.isEmpty ? [] : waiters(of: app, files, own[app] ?? [], among: relevant)
            awaited[app] = waiters.isEmpty ? nil : Awaited(waiters: waiters, files: files)
        }
    }

    /// Lists the waits, and rests after a long list. The kernel prints a line of N characters for the Nth process that waits for a
    /// lock, before it gives the first: 32 MB for 8,000 waiters of any user (lock_get_status(), Linux 6.18).
    private func listWaits() -> [LockWait] {
        let began = loop.freshNow
        let waits = findWaits()
        let end = loop.freshNow
        if end - began > Self.usualListingTime { nextLook = end + (end - began) * Self.restFactor }
        return waits
    }

    private func ownProcesses(of apps: some Sequence<AppIndex>) -> [AppIndex: Set<ProcessID>] {
        Dictionary(uniqueKeysWithValues: apps.map { ($0, Set(processes.tree(of: $0)?.processIDs ?? [])) })
    }

    /// Returns the processes that wait for a lock of the app in earnest.
    private func waiters(
        of app: AppIndex, _ files: [LockedFile: OpenFile], _ own: Set<ProcessID>, among waits: Set<LockWait>
    ) -> Set<ProcessID> {
        var certain: [LockWait] = []
        var possible: [LockWait] = []
        for wait in waits where !own.contains(wait.waiter) {
            if let holder = wait.holder, own.contains(holder) {
                certain.append(wait)
            } else if files[wait.file] != nil {
                possible.append(wait)
            }
        }
        let examined = certain.prefix(Self.waitLimit) + possible.prefix(Self.waitLimit).filter { holds($0, app, files) }
        // Finding the owner of a process takes the longest.
        return Set(examined.lazy.map(\.waiter).filter { !self.isStopped($0) })
    }

    /// Returns whether the lock belongs to an open file of the app, though to none of its processes: a lock that was taken before
    /// a fork may be a child's by now.
    private func holds(_ wait: LockWait, _ app: AppIndex, _ files: [LockedFile: OpenFile]) -> Bool {
        // A live holder elsewhere has the lock itself.
        if let holder = wait.holder, (try? ProcessStatus(of: holder)) != nil { return false }
        if locked[app] != nil { return true }
        // The app runs, and may have released it.
        return files[wait.file]?.locks.contains(wait.file) ?? false
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
        if let delay = delays.popFirst() { timer.arm(atMicroseconds: max(loop.freshNow + delay, nextLook)) }
    }
}

/// Reads the open files of suspended apps, a few in each round of the loop, so that other events are handled in between.
final class FileScans {
    /// The open files of an app that matter to others.
    struct Found {
        private(set) var sockets: [OpenFile] = []
        /// The files that its processes hold locks on, each with a descriptor of it.
        private(set) var locks: [LockedFile: OpenFile] = [:]

        mutating func add(_ file: OpenFile) {
            if file.socket != nil { return sockets.append(file) }
            guard locks.count < FileLocks.fileLimit else { return }
            for lock in file.locks where locks[lock] == nil { locks[lock] = file }
        }
    }

    private struct Scan {
        let app: AppIndex
        var files: OpenFileScan
        var found = Found()
    }

    private let processes: (AppIndex) -> [ProcessID]
    private let finished: (AppIndex, Found) -> Void
    private var begun: BatchQueue
    private let round: LaterSource
    /// The scans in their order; the first one has begun.
    private var scans: [Scan] = []

    /// As many files as take one to three milliseconds.
    static let filesOfRound = 128

    /// - Parameters:
    ///   - processes: Returns the processes of an app.
    ///   - finished: Called with each app that was not removed before, and its files.
    init(
        loop: EventLoop, processes: @escaping (AppIndex) -> [ProcessID], finished: @escaping (AppIndex, Found) -> Void
    ) throws(SystemdError) {
        self.processes = processes
        self.finished = finished
        let owner = Owner<FileScans>()
        let beginBatch: () -> Void = { owner.object?.beginBatch() }
        begun = BatchQueue(first: try loop.idle(beginBatch), next: try loop.later(handler: beginBatch))
        round = try loop.later { owner.object?.readSome() }
        owner.object = self
    }

    /// Lets the scans begin.
    func begin() { begun.begin() }

    func append(_ app: AppIndex) { begun.append(app) }

    func remove(_ app: AppIndex) {
        begun.remove(app)
        scans.removeAll { $0.app == app }
    }

    private func beginBatch() {
        while let app = begun.take() {
            scans.append(Scan(app: app, files: OpenFileScan(of: processes(app))))
            // Most apps have few files, and need no round of their own.
            if scans.count == 1 { readSome() }
        }
    }

    private func readSome() {
        var left = Self.filesOfRound
        var count = 0
        var done: [Scan] = []
        while left > 0, count < scans.count {
            var found = scans[count].found
            left -= scans[count].files.step(count: left) { found.add($0) }
            scans[count].found = found
            guard scans[count].files.isDone else { break }
            done.append(scans[count])
            count += 1
        }
        scans.removeFirst(count)
        if !scans.isEmpty { round.schedule() }
        for scan in done { finished(scan.app, scan.found) }
    }
}
