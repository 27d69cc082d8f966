import Configuration
import Glibc
import LifecycleCore
import OrderedCollections
import Processes
import Systemd

// MARK: - Events of the kernel

extension AppProcesses {
    /// Watches the control group of an app. Without the watch, timers and the reaper find changes later.
    func watchChanges(of app: RunningApp) {
        app.lacksChanges = false
        for descriptor in app.tree.changeDescriptors {
            watch(descriptor, of: app, with: changes) { $0.lacksChanges = true }
        }
    }

    /// Watches a descriptor, unless it is watched already.
    ///
    /// - Parameter note: Notes that the kernel reports nothing.
    private func watch(
        _ descriptor: Int32, of app: RunningApp, with set: WatchSet, note: (RunningApp) -> Void
    ) {
        do throws(SystemdError) {
            try set.add(descriptor, number: app.index.number)
        } catch {
            guard error.errno != EEXIST else { return }
            note(app)
            unwatched.insert(app.index)
            reportLostWatch(of: app.index, Errno(rawValue: error.errno))
        }
    }

    /// Watches again the apps whose watches were lost. Called when the end of an app has made room.
    func retryWatches() {
        guard !unwatched.isEmpty else { return }
        let apps = unwatched.compactMap { running[$0] }
        unwatched = []
        for app in apps {
            if app.lacksChanges { watchChanges(of: app) }
            if app.lacksMainEnd {
                app.lacksMainEnd = false
                watchMain(of: app)
            }
            if case .awaitEnd = app.operation { app.endOperation() }
        }
    }

    func endChangeWatch(of app: RunningApp) {
        for descriptor in app.tree.changeDescriptors { changes.remove(descriptor) }
    }

    private func endMainWatch(of app: RunningApp) {
        if let descriptor = app.tree.newsDescriptor { mains.remove(descriptor) }
    }

    func endWatches(of app: RunningApp) {
        app.execWatch?.cancel()
        app.execWatch = nil
        app.askedWatches = []
        endMainWatch(of: app)
        endChangeWatch(of: app)
    }

    func noticeChange(of index: AppIndex) {
        guard let app = running[index] else { return }
        guard let events = table.acknowledgeChange(of: app.tree.token) else { return endChangeWatch(of: app) }
        if case .stop = app.operation { checkStop(app) }
        for event in events { handle(event) }
    }

    func watchExec(of app: RunningApp) throws(SpawnError) {
        guard let descriptor = app.tree.execStatusDescriptor else { return }
        let index = app.index
        do throws(SystemdError) {
            app.execWatch = try core.events.watch(descriptor, for: .readable) { _ in .execStatus(index) }
        } catch {
            app.tree.kill()
            table.remove(app.tree.token)
            throw .setUp(step: "watch the new process", error: Errno(rawValue: error.errno))
        }
    }

    func readExecStatus(of index: AppIndex) {
        if let app = running[index] { readExecStatus(of: app) }
    }

    private func readExecStatus(of app: RunningApp) {
        guard app.execWatch != nil else { return }
        // The tree closes the descriptor as soon as it knows the status; nothing may watch it then.
        app.execWatch?.isEnabled = false
        switch app.tree.execStatus() {
        case .pending: app.execWatch?.isEnabled = true
        case .running:
            app.execWatch = nil
            report(app.index, .spawned)
            if running[app.index] === app { app.tree.completeSetUp() }
        case .failed(let error):
            forget(app)
            report(app.index, .spawnFailed(SystemFailure(StartFailure.spawn(error))))
        }
    }

    /// Watches a main process that is no child. A second call for the same process changes nothing.
    func watchMain(of app: RunningApp) {
        guard let descriptor = app.tree.newsDescriptor else { return }
        watch(descriptor, of: app, with: mains) { $0.lacksMainEnd = true }
    }

    func noticeEnd(of index: AppIndex) {
        guard let app = running[index] else { return }
        if !app.tree.isReported { endMainWatch(of: app) }
        checkMain(of: app)
    }

    func checkMain(of index: AppIndex) {
        if let app = running[index] { checkMain(of: app) }
    }

    func checkMain(of app: RunningApp) {
        let tree = app.tree
        let othersWait = !tree.processesAskedFirst.isEmpty
        let watched = tree.newsDescriptor
        let events = table.checkMain(of: tree.token)
        if let watched, tree.newsDescriptor != watched {
            mains.remove(watched)
            watchMain(of: app)
        }
        for event in events { handle(event) }
        if tree.newsDescriptor != nil { unconfirmed.append(tree) }
        if othersWait, tree.processesAskedFirst.isEmpty, running[app.index] === app { save(app) }
    }

    /// Watches the processes that were asked to end before the others, but for the main process, whose end is noticed anyway.
    func watchAskedProcesses(of app: RunningApp) {
        let processes = app.tree.processesAskedFirst.filter { $0 != app.tree.main }
        guard !processes.isEmpty else { return }
        do {
            for process in processes {
                guard let pinned = try PinnedProcess.pin(process.pid) else { continue }
                app.askedWatches.append(try EndWatch(pinned.takeDescriptor(), of: app.index, core.events))
            }
        } catch {
            // The daemon has no descriptor or memory left for it.
            return app.tree.askOthers()
        }
        // One may have ended before.
        checkMain(of: app)
    }

    /// Reaps the child that SIGCHLD names, and later all others for which the signal may stand as well. A stop among few children is
    /// looked for among all at once.
    func reap(_ signal: SignalInfo) {
        if hasSeenChildren { restoreSeen() }
        let isStop = signal.code == Int32(CLD_STOPPED) || signal.code == Int32(CLD_CONTINUED)
        let isOfAll = isStop && table.childCount <= BatchedReaping.fewChildren
        let reaped = isOfAll ? table.reap() : table.reap(child: signal.processID)
        for event in reaped.events { handle(event) }
        guard !isOfAll || !reaped.isComplete else { return }
        reaping.begin(after: BatchedReaping.pause(children: table.childCount))
    }

    /// Reaps the main process of an app, if it is a child that has ended, before SIGCHLD is handled.
    func reapMain(of app: RunningApp) {
        guard app.tree.isChild, app.tree.exitStatus == nil else { return }
        for event in table.reap(child: app.tree.main.pid).events { handle(event) }
    }

    func reapAll() {
        reaping.end()
        if hasSeenChildren { restoreSeen() }
        let reaped = table.reap()
        for event in reaped.events { handle(event) }
        table.removeDiscardedGroups()
        if !reaped.isComplete { reaping.begin(after: 0) }
    }

    private func handle(_ event: TreeEvent) {
        guard let app = table[event.tree].flatMap({ app(of: $0) }) else { return }
        switch event.change {
        case .mainEnded(let status): mainEnded(app, status)
        case .mainStopped(_, asked: true), .memberStopped: if case .stop = app.operation { checkStop(app) }
        case .mainStopped(_, asked: false): if !app.resumeSelfStopped() { report(app.index, .stoppedByOther) }
        case .mainContinued(asked: false), .memberContinued(_, asked: false): report(app.index, .resumedByOther)
        case .mainContinued(asked: true), .memberContinued(_, asked: true): break
        case .thawed: if case .none = app.operation { report(app.index, .resumedByOther) }
        case .keeperEnded: report(app.index, .keeperEnded)
        case .emptied: emptied(app)
        }
    }

    func mainEnded(_ app: RunningApp, _ status: WaitStatus) {
        readExecStatus(of: app)
        guard running[app.index] === app else { return }
        let othersLeft = !app.tree.isEmpty
        if !othersLeft { forget(app) }
        if othersLeft, case .none = app.operation { app.endOperation() }
        if othersLeft && app.exitPolicy == .last { return save(app) }
        app.hasReportedExit = true
        // In one step with what the core makes of it: a core that does not know of the exit would wait for it for ever.
        if othersLeft { add(app) }
        report(app.index, .exited(ExitStatus(status), othersLeft: othersLeft))
    }

    private func emptied(_ app: RunningApp) {
        forget(app)
        if !app.hasReportedExit, app.tree.exitStatus != nil || !app.tree.units.isEmpty {
            // The main process of a unit may run on elsewhere.
            let status = app.tree.exitStatus.map { ExitStatus($0) } ?? .unknown
            report(app.index, .exited(status, othersLeft: false))
        } else {
            report(app.index, .gone)
        }
    }
}

// MARK: - Continued by others

extension AppProcesses {
    /// Reports the apps that another program has continued without notice from the kernel.
    func noticeContinuations() {
        guard hasWatchedProcessors else { return }
        for app in running.values where app.processorWatch?.mayHaveRun ?? false {
            if app.tree.hasUnnoticedContinuation { report(app.index, .resumedByOther) }
        }
    }

    func watchProcessor(of app: RunningApp) {
        app.watchProcessor(with: switchReports)
        guard app.processorWatch != nil, !hasWatchedProcessors else { return }
        hasWatchedProcessors = true
        openingOfReports.schedule()
    }

    func openSwitchReports() {
        switchReports = SwitchReports()
        guard switchReports != nil else { return }
        for app in running.values where app.processorWatch != nil { noticeRunning(app) }
    }

    /// Notices that the timer of a process has ended, which counts the time that it runs.
    func noticeRunning(_ pid: ProcessID) {
        guard let app = running.values.first(where: { $0.processorWatch?.hasTimer(for: pid) ?? false }) else { return }
        noticeRunning(app)
    }

    /// Notices that a process of an app has run.
    func noticeRunning(of index: AppIndex) {
        if let app = running[index], app.processorWatch != nil { noticeRunning(app) }
    }

    private func noticeRunning(_ app: RunningApp) {
        // In this order no continuation is missed. Nothing runs if, for example, a debugger has looked at the process.
        watchProcessor(of: app)
        if app.tree.hasUnnoticedContinuation { report(app.index, .resumedByOther) }
    }
}

extension ExitStatus {
    init(_ status: WaitStatus) {
        switch status {
        case .exited(let code): self = .code(code)
        case .killed(let signal, _): self = .signal(signal.rawValue)
        case .unknown: self = .unknown
        }
    }
}

/// The app that a process belongs to.
enum ProcessOwner: Equatable {
    case app(AppID)
    case noApp
    /// The process is one of an app that has ended, or its ancestry cannot be read.
    case unknown
}

extension AppProcesses {
    /// Returns the processes that may have left the tree and belong to no app.
    func unrelatedProcesses(youngerThan tree: ProcessTree) -> [ForeignProcess] {
        if hasSeenChildren { restoreSeen() }
        return table.unrelatedProcesses(youngerThan: tree)
    }

    /// Returns the owner of a process at this moment.
    ///
    /// Every process of an app is in a control group of the apps, or below a keeper. The process can change neither.
    func owner(of pid: ProcessID) -> ProcessOwner {
        guard let ancestry = Ancestry(of: pid) else { return .unknown }
        // A process of an app that was only seen may be anywhere.
        restoreSeen { ancestry.processes.contains($0.tree.main.pid) }
        var isInGroup = false
        if let groups = table.groups {
            guard let location = groups.location(of: pid) else { return .unknown }
            if case .helper(let name) = location { return .app(AppID(name)) }
            isInGroup = location == .app
            if isInGroup { restoreSeen(in: groups.groupName(of: pid)) }
            if isInGroup, let id = app(containing: pid) { return .app(id) }
        }
        if ancestry.reachesThisProcess, let id = app(amongMainProcesses: ancestry.processes) { return .app(id) }
        if !table.isContainedByGroupsAlone, let id = app(containing: pid) { return .app(id) }
        return isInGroup || ancestry.reachesThisProcess ? .unknown : .noApp
    }

    private func app(containing pid: ProcessID) -> AppID? {
        table.tree(containing: pid).flatMap { app(of: $0) }.map { core.id(of: $0.index) }
    }

    /// Returns the running app that a tree belongs to; nil after the end of the launch.
    func app(of tree: ProcessTree) -> RunningApp? {
        tree.owningApp.flatMap { running[AppIndex(number: $0)] }
    }

    func app(below pid: ProcessID) -> AppID? {
        mainProcesses.first { RunningProcess.ancestors(of: $0.pid)?.contains(pid) ?? false }.map { core.id(of: $0.app) }
    }

    private func app(amongMainProcesses pids: [ProcessID]) -> AppID? {
        mainProcesses.first { pids.contains($0.pid) }.map { core.id(of: $0.app) }
    }

    /// The number of open files that are looked at for one call.
    private static let openFileLimit = 4096

    /// Returns the apps that a pipe or a Unix socket connects with an app. Looks at the open files of all apps, up to a limit.
    func appsConnected(to index: AppIndex?) -> [AppID] {
        restoreSeen()
        guard let index, let app = running[index] else { return [] }
        var left = Self.openFileLimit
        let ends = PipeEnds(of: app.tree.processIDs, limit: &left)
        let sockets = (try? UnixSocket.all()) ?? []
        let peers = Dictionary(sockets.map { ($0.inode, $0.peer) }, uniquingKeysWith: { $1 })
        return running.filter { other, app in
            other != index
                && ends.areConnected(to: PipeEnds(of: app.tree.processIDs, limit: &left), peers: peers)
        }.map { core.id(of: $0.key) }.sorted()
    }
}

/// Reaps all children, once for many SIGCHLDs.
///
/// SIGCHLDs that are pending together are merged, so all children must be asked. waitid(2) takes longer the more children
/// there are.
final class BatchedReaping {
    /// The number of children that are asked in less time than a round of the loop takes.
    static let fewChildren = 32
    /// The time for a child with nothing to report, in nanoseconds (measured with 9,800 children).
    private nonisolated static let childCost = 300
    /// Reaping takes at most one part in so many of the time.
    private nonisolated static let share = 20
    /// The longest time in which an end stays unnoticed, in microseconds.
    private nonisolated static let longestPause = 100_000
    /// The pause below which arming a timer takes longer than reaping, in microseconds.
    private static let leastPause: UInt64 = 1_000

    private let nextRound: LaterSource
    private let timer: TimerSource
    private var isBegun = false

    init(_ events: Events) throws(SystemdError) {
        nextRound = try events.later(.reapingDue)
        timer = try events.timer(.reapingDue)
    }

    /// Notes that all children are asked now.
    func end() { isBegun = false }

    /// Reaps after a pause in microseconds, or earlier if it has begun already.
    func begin(after pause: UInt64) {
        guard !isBegun else { return }
        isBegun = true
        if pause < Self.leastPause { nextRound.schedule() } else { timer.arm(afterMicroseconds: pause) }
    }

    nonisolated static func pause(children: Int) -> UInt64 {
        UInt64(min(children * childCost * share / 1000, longestPause))
    }
}
