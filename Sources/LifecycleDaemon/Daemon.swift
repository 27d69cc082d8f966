import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The daemon: one thread, one loop, the core in the middle.
public final class Daemon {
    private let instance: Instance
    private let places: Places
    private let usesControllers: Bool
    private let loop: EventLoop
    private let log: Log
    private let manager: AppManager
    private let control: ControlService
    private let loader: ConfigurationLoader
    private let kept: KeptDescriptors
    private var returnSocket: ReturnSocket?
    private var machine: MachineEvents?
    private var signals: [SignalSource] = []
    private var isHandingOver = false
    private var isShuttingDown = false
    /// What the program before has left that was executed in this process.
    private let predecessor: Reexecution?
    /// The soft RLIMIT_NOFILE that the process was started with.
    private let descriptorLimit: UInt64?
    /// The program to execute again.
    private let program: String
    private var reexecution: PendingReexecution?

    /// A re-execution that waits for the replies that are due.
    private struct PendingReexecution {
        let client: ReexecutionClient?
        /// The instant at which the daemon no longer waits, on the loop's clock.
        let deadline: UInt64
        let timer: TimerSource
    }

    /// Prepares a daemon: takes its socket and becomes the parent of its apps' orphans.
    ///
    /// - Throws: An error whose description is one sentence for the person who starts it.
    public init(options: Options) throws {
        StandardStreams.openMissing()
        // Without it a launch among thousands of apps takes longer, and that is all.
        try? SpawnWindow.reserve()
        program = Self.ownProgram
        predecessor = Reexecution.take()
        let environment = currentEnvironment()
        instance = options.instance
        usesControllers = options.usesControllers
        places = try Places(options: options, environment: environment)
        loader = ConfigurationLoader(places, instance: instance, environment: environment)
        loop = try EventLoop()
        log = Log(target: options.logTarget)
        var passed = try ServiceManager.takePassedDescriptors()
        if let predecessor { passed += predecessor.passed }
        kept = KeptDescriptors(from: &passed)
        try Reaper.becomeSubreaper()
        let formerLimit = try? OpenFileLimit.raiseToHardLimit()
        descriptorLimit = predecessor?.descriptorLimit ?? formerLimit
        let launcher = AppLauncher(
            isSystem: instance == .system, stateDirectory: places.state, returnSocket: places.returnSocket,
            environment: AppEnvironment(daemon: environment), usesJournal: log.usesJournal,
            descriptorLimit: descriptorLimit.map { min($0, OpenFileLimit.usual) })
        let keeper = try StateKeeper(path: places.stateFile, loop: loop, log: log)
        let isSystem = instance == .system
        manager = try AppManager(
            loop: loop, launcher: launcher, keeper: keeper,
            exits: LastExits(records: AppRecords("exits", of: .exit, in: places.state, isSystem: isSystem, log: log)),
            ended: EndedApps(
                keeper: keeper,
                records: AppRecords("ended", of: .ended, in: places.state, isSystem: isSystem, log: log)),
            runs: AppRecords("runs", of: .run, in: places.state, isSystem: isSystem, log: log),
            entries: isSystem ? nil : loader.entries, log: LifecycleLog(log: log))
        let socket = try ControlSocket.open(
            passed: passed, places: places, isSystem: instance == .system,
            lock: predecessor?.number(of: Reexecution.Name.lock))
        control = try ControlService(
            loop: loop, socket: socket, manager: manager, log: log, instance: instance, path: places.socket)
    }

    /// Serves until it is told to end, and all apps have.
    ///
    /// - Returns: The exit code of the process.
    /// - Throws: What the loop cannot go on after.
    public func run() throws -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            signals.append(try loop.signal(number) { [weak self] _ in self?.shutDown() })
        }
        signals.append(try loop.signal(SIGUSR2) { [weak self] _ in self?.handOver() })
        signals.append(try loop.signal(SIGHUP) { [weak self] _ in self?.reload() })
        signals.append(try loop.signal(Reexecution.signal) { [weak self] _ in self?.reexecute(for: nil) })
        control.onReexecute = { [weak self] in self?.reexecute(for: $0) }
        control.onReload = { [weak self] in self?.reload() }
        manager.onFinished = { [weak self] in self?.loop.exit(code: EXIT_SUCCESS) }
        try begin(with: read())
        listenForApps()
        try loop.enableWatchdog()
        log.write(LogEntry(id: .daemonStarted, message: "lifed \(control.version) listens at \(places.socket)"))
        manager.start()
        machine = MachineEvents(
            loop: loop, manager: manager,
            choice: .ofProcess(isUser: instance == .user, environment: currentEnvironment()), log: log)
        machine?.onClockChange = { [weak self] in self?.manager.scheduleClockChanged() }
        notify(.ready, .status(control.summary))
        predecessor?.answerClient()
        let code = try serve()
        control.close()
        returnSocket?.close()
        if !isHandingOver { manager.leave() }
        return code
    }

    private func serve() throws -> Int32 {
        try log.begin(in: loop)
        defer { log.end() }
        return try loop.run()
    }

    /// Gets the apps of a daemon before, if one has left any, and those of the configuration.
    private func begin(with configuration: LoadedConfiguration) throws {
        let containment = configuration.settings.containment
        let cgroups = CgroupSetUp.claim(containment, runtimeDirectory: places.runtime, log: log)
        CgroupSetUp.enableControllers(of: cgroups, isClearedAfterCrash: usesControllers, log: log)
        manager.use(cgroups)
        let names = kept.names
        if let saved = try readState() {
            manager.takeOver(saved, configuration: configuration, descriptors: kept)
        } else {
            manager.ended.restore()
            manager.take(configuration)
            manager.keeper.begin()
        }
        manager.processes.removeEmptyGroups()
        let inUse = manager.processes.tokens.map { DescriptorStore.name(of: $0) }
        for name in names.subtracting(inUse) { DescriptorStore.discard(name, log: log) }
        kept.closeRest()
    }

    /// Without the socket an app that has lost its channel goes on as one without the library.
    private func listenForApps() {
        do {
            // Apps of other users come here, too; the kernel says whose process connects.
            let mode: mode_t = instance == .system ? 0o666 : 0o600
            returnSocket = try ReturnSocket(at: places.returnSocket, mode: mode, loop: loop) { [weak self] in
                self?.manager.admit($0, of: $1)
            }
        } catch {
            log.write(LogEntry(priority: .warning, message: String(describing: error)))
        }
    }

    /// A file that could not be read this time is left to another daemon, or to the rescue: one that knows nothing of the
    /// apps would write its own in its place, and those that are stopped would stay so.
    private func readState() throws -> SavedState? {
        do throws(UnusableState) {
            return try SavedState.read(places.stateFile)
        } catch {
            if error.mayBeReadLater { throw StartError("the apps of a lifed before are not known: \(error)") }
            log.write(LogEntry(priority: .error, message: "apps of a lifed before are lost: \(error)"))
            return nil
        }
    }

    private func read() -> LoadedConfiguration {
        let configuration = loader.load()
        control.take(configuration)
        for problem in configuration.problems { log.write(LogEntry(problem)) }
        return configuration
    }

    private func reload() {
        notify(.reloading)
        manager.take(read())
        log.write(LogEntry(id: .configurationReloaded, message: "the configuration was read again"))
        notify(.ready, .status(control.summary))
    }

    private func shutDown() {
        isShuttingDown = true
        if let client = reexecution?.client { refuse(client, "it is stopping") }
        reexecution = nil
        log.write(LogEntry(id: .daemonStopping, message: "lifed is stopping; every app is asked to end"))
        // What a manifest gives an app for its end may be more than the unit gives all of them.
        let longest = manager.core.longestEnding
        notify(.stopping, .extendTimeout(longest), .status("Ending \(manager.core.runningCount) apps"))
        manager.shutDown()
    }

    /// Ends, and leaves the apps as they are to the daemon that is started next.
    private func handOver() {
        log.write(LogEntry(id: .daemonStopping, message: "lifed is restarted; the apps are left as they are"))
        isHandingOver = true
        notify(.stopping)
        loop.exit(code: EXIT_SUCCESS)
    }

    // MARK: Re-execution

    /// The program of this process: where the service manager or a shell has found it, so that a new version in its
    /// place is executed.
    private static var ownProgram: String {
        if let word = CommandLine.arguments.first, word.hasPrefix("/") { return word }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// How long a re-execution waits for replies that are due, and how often it looks, in microseconds.
    private static let replyTime: UInt64 = 5_000_000
    private static let replyInterval: UInt64 = 10_000

    /// Executes the daemon's program again as soon as no client waits for a reply.
    private func reexecute(for client: ReexecutionClient?) {
        guard !isShuttingDown, !isHandingOver, reexecution == nil else {
            if let client { refuse(client, reexecution == nil ? "it is stopping" : "it is executed again already") }
            return
        }
        do throws(SystemdError) {
            let timer = try loop.timer { [weak self] in self?.continueReexecution() }
            let deadline = loop.freshNow + Self.replyTime
            reexecution = PendingReexecution(client: client, deadline: deadline, timer: timer)
            timer.arm(atMicroseconds: loop.freshNow)
        } catch {
            log.write(LogEntry(priority: .error, message: error.description))
            if let client { refuse(client, error.description) }
        }
    }

    private func continueReexecution() {
        guard let pending = reexecution else { return }
        if control.hasPendingReplies(except: pending.client), loop.freshNow < pending.deadline {
            return pending.timer.arm(atMicroseconds: loop.freshNow + Self.replyInterval)
        }
        reexecution = nil
        let failure = executeAgain(for: pending.client)
        log.write(
            LogEntry(
                priority: .error, message: "cannot execute \(program) again: \(failure); the daemon goes on as it is"))
        if let client = pending.client { refuse(client, "cannot execute \(program): \(failure)") }
    }

    /// - Returns: Why the program could not be executed.
    private func executeAgain(for client: ReexecutionClient?) -> String {
        guard manager.keeper.flush() else { return "the state of the apps cannot be written" }
        var kept = Reexecution(descriptorLimit: descriptorLimit)
        control.server?.leave(to: &kept)
        manager.leave(to: &kept)
        client?.leave(to: &kept)
        log.write(LogEntry(id: .daemonStopping, message: "lifed is executed again; the apps are left as they are"))
        log.end()
        notify(.reloading)
        let error = kept.execute(program)
        // The loop's entries have been written; later ones wait for the loop again.
        try? log.begin(in: loop)
        notify(.ready, .status(control.summary))
        return error.description
    }

    private func refuse(_ client: ReexecutionClient, _ reason: String) {
        control.refuse(client, reason: reason, remedy: "The daemon goes on as it is.")
    }

    private func notify(_ notifications: ServiceNotification...) {
        do {
            try ServiceManager.notify(notifications)
        } catch {
            log.write(LogEntry(priority: .warning, message: String(describing: error)))
        }
    }
}
