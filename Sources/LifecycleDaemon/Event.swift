import DequeModule
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Everything that happens to the daemon, but for the messages of buses and what only concerns the desktop.
///
/// An event is data: it names an app or a client by its number, and either may be gone when the event is handled.
enum DaemonEvent {
    case stopSignal
    case handOverSignal
    case reloadSignal
    case reexecutionSignal
    case reexecutionDue
    case firstPause
    case deadline
    case stateRetryDue
    case logPause
    case suppressionReportDue
    case childSignal(SignalInfo)
    case reapingDue
    case groupChanged(AppIndex)
    case mainChanged(AppIndex)
    case execStatus(AppIndex)
    case checkDue(AppIndex)
    case firstChecksDue
    case selfStopCheckDue(AppIndex)
    case askedProcessEnded(AppIndex)
    case appRan(AppIndex)
    case processRan(ProcessID)
    case switchReportsDue
    case stopsDue
    case restorationDue
    case clientsConnect
    case client(UInt64, IOEvents)
    case turnsDue
    case longCallDue
    case appsConnect
    case unmanaged(_ connection: Int32, IOEvents)
    case channel(AppIndex, IOEvents)
    case sharesDue
    case trimmingDue
    case memoryPressure(MemoryLevel, IOEvents)
    case memoryRetryDue
    case reserveCheckDue
    case clockTimer
    case timeZoneDirectory(InotifyEvent)
    case latestSleep
}

extension Daemon {
    func handle(_ event: DaemonEvent) {
        let processes = parts.processes
        switch event {
        case .stopSignal: shutDown()
        case .handOverSignal: handOver()
        case .reloadSignal: try? reload()
        case .reexecutionSignal: reexecute(for: nil)
        case .reexecutionDue: continueReexecution()
        case .firstPause: beginIdleWork()
        // The turn that follows each event handles the deadlines that are due.
        case .deadline: break
        case .stateRetryDue: store.makeRoom()
        case .logPause: log.writeWaiting()
        case .suppressionReportDue: log.reportSuppressed(until: events.loop.now)
        case .childSignal(let signal): processes.reap(signal)
        case .reapingDue: processes.reapAll()
        case .groupChanged(let app): processes.noticeChange(of: app)
        case .mainChanged(let app): processes.noticeEnd(of: app)
        case .execStatus(let app): processes.readExecStatus(of: app)
        case .checkDue(let app): processes.continueOperation(of: app)
        case .firstChecksDue: processes.scheduleFirstChecks()
        case .selfStopCheckDue(let app): processes.checkSelfStops(of: app)
        case .askedProcessEnded(let app): processes.checkMain(of: app)
        case .appRan(let app): processes.noticeRunning(of: app)
        case .processRan(let pid): processes.noticeRunning(pid)
        case .switchReportsDue: processes.openSwitchReports()
        case .stopsDue: processes.stopSome()
        case .restorationDue: processes.restoreSome()
        case .clientsConnect: control.server.accept()
        case .client(let id, let ready): control.server.proceed(with: id, ready)
        case .turnsDue: control.server.giveTurns()
        case .longCallDue: control.server.passLongCall()
        case .appsConnect: for peer in appSocket?.accept() ?? [] { parts.channels.admit(peer) }
        case .unmanaged(let connection, let ready):
            parts.channels.admit(connection, ready)
        case .channel(let app, let ready): parts.channels.proceed(with: app, ready)
        case .sharesDue: parts.resources.applyStale()
        case .trimmingDue: parts.trimmer.step()
        case .memoryPressure(let level, let ready): parts.memory.handle(level, ready)
        case .memoryRetryDue: parts.memory.tryAgain()
        case .reserveCheckDue: parts.memory.checkReserve()
        case .clockTimer: machine.noticeClock()
        case .timeZoneDirectory(let change): machine.noticeTimeZone(change)
        case .latestSleep: machine.letSleep()
        }
    }
}

/// Makes the event sources of the daemon, and keeps what they report until it is handled.
final class Events {
    let loop: EventLoop
    private var queue: Deque<DaemonEvent> = []

    init() throws(SystemdError) { loop = try EventLoop() }

    /// Handles what the latest round of the loop has reported.
    func handle(by handler: (DaemonEvent) -> Void) {
        while let event = queue.popFirst() { handler(event) }
    }

    func timer(_ event: DaemonEvent) throws(SystemdError) -> TimerSource {
        try loop.timer { self.queue.append(event) }
    }

    func later(_ event: DaemonEvent, _ priority: EventPriority = .normal) throws(SystemdError) -> LaterSource {
        let source = try loop.later { self.queue.append(event) }
        source.setPriority(priority)
        return source
    }

    func idle(_ event: DaemonEvent) throws(SystemdError) -> IdleSource {
        try loop.idle { self.queue.append(event) }
    }

    func signal(
        _ number: Int32, _ event: @escaping (SignalInfo) -> DaemonEvent
    ) throws(SystemdError) -> SignalSource {
        try loop.signal(number) { self.queue.append(event($0)) }
    }

    func watch(
        _ descriptor: Int32, for readiness: IOEvents, _ event: @escaping (IOEvents) -> DaemonEvent
    ) throws(SystemdError) -> IOSource {
        try loop.watch(descriptor: descriptor, events: readiness) { self.queue.append(event($0)) }
    }

    func watch(
        _ path: String, for mask: UInt32, _ event: @escaping (InotifyEvent) -> DaemonEvent
    ) throws(SystemdError) -> InotifySource {
        try loop.watch(path: path, mask: mask) { self.queue.append(event($0)) }
    }

    /// Watches descriptors of apps.
    func watchSet(
        for readiness: IOEvents, _ event: @escaping (AppIndex) -> DaemonEvent
    ) throws(SystemdError) -> WatchSet {
        try loop.watchSet(events: readiness) { self.queue.append(event(AppIndex(number: $0))) }
    }
}
