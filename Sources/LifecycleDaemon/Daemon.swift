import CLinux
import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes
import Systemd
import Varlink

/// The root of the daemon: it makes every part, and starts, reloads, hands over and ends the whole.
///
/// One thread and one event loop serve everything. ``Turn`` says what follows each event. What happens to an app is decided in the
/// core and done in `Apps`; nothing about a single app belongs here.
public final class Daemon {
    let paths: DaemonPaths
    let bootID: String
    let events: Events
    let log: Log
    let store: StateLog
    let parts: DaemonParts
    let control: ControlService
    let machine: MachineEvents
    let turn: Turn
    /// Nil if it cannot be opened: apps without a channel go on as apps without the library.
    let appSocket: AppSocket?
    private let loader: ConfigurationLoader
    private let signals: [SignalSource]
    private let firstPause: FirstPause
    private let program: String
    /// The soft RLIMIT_NOFILE with which the process was started.
    private let descriptorLimit: UInt64?
    private var isHandingOver = false
    private var isShuttingDown = false
    private var reexecution: PendingReexecution?

    private struct PendingReexecution {
        let client: ClientCall?
        let deadline: UInt64
        let timer: TimerSource
    }

    /// Makes a daemon that serves: it has restored the apps of the previous one, or begun with those of the configuration.
    ///
    /// - Throws: An error whose description is one sentence for the user.
    public init(options: Options) throws {
        StandardStreams.openMissing()
        StraySignals.ignore()
        // From this size on, a block is a mapping of its own, which is unmapped when it is freed. By default, malloc(3) raises the
        // size after the first large message of a bus (16 MiB at most), and then keeps up to twice as much for ever.
        linux_set_mmap_threshold(1 << 20)
        // Where a parent has ignored it, the kernel reaps children and tells of none.
        signal(SIGCHLD, SIG_DFL)
        program = Self.ownProgram
        let previousProgram = Reexecution.receive()
        let environment = currentEnvironment()
        let instance = options.instance
        let isSystem = instance == .system
        paths = try DaemonPaths(options: options, environment: environment)
        bootID = try BootID.ofThisBoot()
        let events = try Events()
        self.events = events
        log = try Log(target: options.logTarget, events: events)
        var passed = try ServiceManager.takePassedDescriptors()
        if let previousProgram { passed += previousProgram.passed }
        let descriptors = StoredDescriptors(from: &passed)
        try Reaper.becomeSubreaper()
        let previousLimit = try? OpenFileLimit.raiseToHardLimit()
        descriptorLimit = previousProgram?.descriptorLimit ?? previousLimit
        let socket = try ControlSocket.open(
            passed: passed, paths: paths, isSystem: isSystem,
            lock: previousProgram?.number(of: Reexecution.Name.lock))
        let meanings: [(Int32, DaemonEvent)] = [
            (SIGTERM, .stopSignal), (SIGINT, .stopSignal), (SIGUSR2, .handOverSignal), (SIGHUP, .reloadSignal),
            (Reexecution.signal, .reexecutionSignal),
        ]
        signals = try meanings.map { number, event in try events.signal(number) { _ in event } }
        loader = ConfigurationLoader(options, environment: environment)
        let configuration = try loader.read(log: log)
        let cgroups = CgroupSetup.claim(configuration.settings.containment, options, paths.runtime, log: log)
        try PrivateDirectory.add(paths.keepers, mode: 0o700)
        store = try StateLog(path: paths.stateFile, bootID: bootID, events: events, log: log)
        parts = try DaemonParts(
            events: events,
            launcher: AppLauncher(
                isSystem: isSystem, stateDirectory: paths.state, appSocket: paths.appSocket,
                environment: AppEnvironment(daemon: environment), usesJournal: log.usesJournal,
                descriptorLimit: descriptorLimit.map { min($0, OpenFileLimit.usual) }),
            store: store,
            table: ProcessTable(
                cgroups: cgroups, keepers: KeeperProgram(beside: program, directory: paths.keepers)),
            entries: isSystem ? nil : loader.entries, log: log)
        control = try ControlService(
            socket: socket, configuration: configuration, presentation: parts.presentation, uses: parts.uses,
            interruptions: parts.interruptions, history: parts.history, log: log, instance: instance,
            path: paths.socket, owner: parts.processes.owner)
        machine = try MachineEvents(
            driver: parts.driver, choice: .ofProcess(isUser: !isSystem, environment: environment), log: log)
        turn = Turn(parts, control, machine, log: log)
        appSocket = AppSocket.listen(at: paths.appSocket, isSystem: isSystem, events: events, log: log)
        firstPause = try FirstPause(events)
        try begin(with: configuration, descriptors)
        previousProgram?.answerClient()
    }

    /// Takes over or begins, and tells the service manager that the daemon serves.
    private func begin(with configuration: LoadedConfiguration, _ descriptors: StoredDescriptors) throws {
        try restore(with: configuration, descriptors)
        try events.loop.enableWatchdog()
        log.write(LogEntry(id: .daemonStarted, message: "lifed \(control.version) listens at \(paths.socket)"))
        turn.begin()
        machine.begin()
        parts.desktop?.begin(configuration.settings)
        firstPause.begin()
        notify(.ready, .status(control.summary))
    }

    /// Serves until the daemon is told to end, and all apps have ended.
    ///
    /// - Returns: The exit code of the process.
    /// - Throws: An error after which the loop cannot go on.
    public func run() throws -> Int32 {
        let code = try serve()
        // Nothing is given back: the next daemon would wait for it.
        guard control.server.ownsFiles(of: paths) else { exit(code) }
        control.close()
        appSocket?.close()
        if isHandingOver { exit(code) }
        store.end()
        parts.processes.leave()
        return code
    }

    private func serve() throws -> Int32 {
        log.begin()
        defer {
            log.end()
            turn.announcer.entriesWritten()
        }
        return try events.loop.run {
            events.handle(by: handle)
            turn.run()
            while let call = control.takeCallOfDaemon() {
                perform(call)
                turn.run()
            }
        }
    }

    private func perform(_ call: ClientCall) {
        guard call.method == .reload else { return reexecute(for: call) }
        do throws(DaemonError) {
            try reload()
            call.answer(VarlinkReply(ReloadReply(problems: control.problems)))
        } catch {
            call.refuse(
                .failed, error.description, "the daemon keeps the configuration before; reload it again later")
        }
    }

    /// Applies the settings to everything but the core.
    func apply(_ settings: DaemonSettings) {
        parts.processes.apply(settings)
        parts.memory.apply(settings.memory)
        parts.resources.apply(settings.resources, processes: ProcessLimit(settings.limits.processes))
    }

    /// Begins the work that waits for the first pause.
    func beginIdleWork() {
        firstPause.end()
        parts.beginIdleWork()
    }

    func shutDown() {
        isShuttingDown = true
        if let client = reexecution?.client { refuse(client, "it is stopping") }
        reexecution = nil
        log.write(LogEntry(id: .daemonStopping, message: "lifed is stopping, and terminates every app"))
        // A manifest may give an app a longer termination timeout than the unit gives all of them.
        let longest = parts.driver.core.longestTermination
        notify(.stopping, .extendTimeout(longest), .status("Ending \(parts.driver.core.runningCount) apps"))
        parts.driver.append(.shutDown)
    }

    func handOver() {
        log.write(LogEntry(id: .daemonStopping, message: "lifed is restarting, and leaves the apps as they are"))
        isHandingOver = true
        notify(.stopping)
        events.loop.exit(code: EXIT_SUCCESS)
    }

    private func notify(_ notifications: ServiceNotification...) {
        do {
            try ServiceManager.notify(notifications)
        } catch {
            log.write(.warning, String(describing: error))
        }
    }
}

extension Daemon {
    /// Reads the configuration again. If that fails, the one before stays.
    func reload() throws(DaemonError) {
        notify(.reloading)
        defer { notify(.ready, .status(control.summary)) }
        do throws(DaemonError) {
            let configuration = try loader.read(log: log)
            control.apply(configuration)
            apply(configuration.settings)
            parts.catalog.apply(configuration)
            turn.handleInputs()
            control.server.reviewRights()
            parts.desktop?.apply(configuration.settings)
            log.write(LogEntry(id: .configurationReloaded, message: "lifed has reloaded the configuration"))
        } catch {
            log.write(.error, "cannot reload the configuration: \(error); keeping the one before")
            throw error
        }
    }

    // MARK: Re-execution

    /// The path by which the service manager or a shell has found the program, so that a new version there is executed.
    private static var ownProgram: String {
        if let word = CommandLine.arguments.first, word.hasPrefix("/") { return word }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        return String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static let replyTime: UInt64 = 5_000_000
    private static let replyInterval: UInt64 = 10_000

    /// Executes the daemon's program again as soon as no client waits for a reply.
    func reexecute(for client: ClientCall?) {
        guard !isShuttingDown, !isHandingOver, reexecution == nil else {
            if let client { refuse(client, reexecution == nil ? "it is stopping" : "a re-execution is pending") }
            return
        }
        do throws(SystemdError) {
            let timer = try events.timer(.reexecutionDue)
            let deadline = events.loop.freshNow + Self.replyTime
            reexecution = PendingReexecution(client: client, deadline: deadline, timer: timer)
            timer.arm(afterMicroseconds: 0)
        } catch {
            log.write(.error, error.description)
            if let client { refuse(client, error.description) }
        }
    }

    func continueReexecution() {
        guard let pending = reexecution else { return }
        if control.server.hasPendingReplies(except: pending.client?.connection),
            events.loop.freshNow < pending.deadline
        {
            return pending.timer.arm(afterMicroseconds: Self.replyInterval)
        }
        reexecution = nil
        let failure = executeAgain(for: pending.client)
        log.write(.error, "cannot execute \(program) again: \(failure); continuing with the old program")
        if let client = pending.client { refuse(client, "\(program): \(failure)") }
    }

    /// - Returns: The reason why the program could not be executed.
    private func executeAgain(for client: ClientCall?) -> String {
        guard store.flush() else { return "the state of the apps cannot be saved" }
        var kept = Reexecution(descriptorLimit: descriptorLimit)
        control.server.leave(to: &kept)
        for app in parts.driver.core.knownApps.values {
            guard let launch = parts.processes.launch(of: app.index) else { continue }
            let name = DescriptorStore.name(of: launch.token)
            for number in [launch.pidfd, parts.channels.number(of: app.index)] {
                if let number { kept.keep(number, as: name) }
            }
        }
        // The number of a client that has gone may be that of another file by now.
        if let client, client.connection.isOpen { kept.keep(client.connection.number, as: Reexecution.Name.client) }
        log.write(
            LogEntry(id: .daemonStopping, message: "lifed executes its program again, and leaves the apps as they are"))
        log.end()
        turn.announcer.entriesWritten()
        notify(.reloading)
        let error = kept.execute(program)
        // The entries so far are written; later ones wait for the loop again.
        log.begin()
        notify(.ready, .status(control.summary))
        return error.description
    }

    private func refuse(_ client: ClientCall, _ reason: String) {
        client.refuse(.failed, "cannot execute the daemon again: \(reason)", "the old program keeps running")
    }
}

/// The signals that ask the daemon for nothing.
enum StraySignals {
    /// Ignores each signal that ends a process by default, except for SIGQUIT and those of faults and limits. A child gets
    /// the default actions before it executes a program.
    static func ignore() {
        let used = [ProcessorWatch.signal, Reexecution.signal]
        let realTime = (__libc_current_sigrtmin()...__libc_current_sigrtmax()).filter { !used.contains($0) }
        for number in [SIGPIPE, SIGUSR1, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT, SIGXFSZ] + realTime {
            signal(number, SIG_IGN)
        }
    }
}

/// Standard input, output and error of this process.
enum StandardStreams {
    /// Opens /dev/null for each stream that is closed. Otherwise a socket gets its number, and log entries go into it.
    static func openMissing() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is this one: those below it are open by now.
            _ = unsafe open("/dev/null", O_RDWR)
        }
    }
}

/// The choice between control groups and keepers, made once at the start.
enum CgroupSetup {
    /// Claims control groups for the apps, if the settings and the machine allow it. Logs the result.
    ///
    /// - Parameter runtime: The runtime directory, which distinguishes this daemon from others in the same control group.
    static func claim(
        _ containment: DaemonSettings.Containment, _ options: Options, _ runtime: String, log: any JournalSink
    ) -> CgroupSubtree? {
        guard containment == .auto else { return nil }
        do throws(FeatureUnavailable) {
            let subtree = try CgroupSubtree.claim(name: name(for: runtime))
            log.write(.info, "lifed makes a control group for each app in \(subtree.path)")
            enableControllers(of: subtree, isClearedAfterCrash: options.usesControllers, log: log)
            return subtree
        } catch {
            let remedy = remedy(options.instance)
            log.write(.notice, "cannot use control groups: \(error); using a keeper for each app\(remedy)")
            return nil
        }
    }

    /// Returns a way to get control groups, where the user's systemd has them.
    private static func remedy(_ instance: Instance) -> String {
        let manager = currentEnvironment()["XDG_RUNTIME_DIR"].map { $0 + "/systemd/private" }
        guard instance == .user, let manager, unsafe access(manager, F_OK) == 0 else { return "" }
        return "; start it with 'systemd-run --user --scope --property=Delegate=yes lifed --user' for control groups"
    }

    /// Enables the controllers, unless they would keep the service from being started again.
    private static func enableControllers(
        of cgroups: CgroupSubtree, isClearedAfterCrash: Bool, log: any JournalSink
    ) {
        do throws(FeatureUnavailable) {
            try cgroups.enableControllers(isClearedAfterCrash: isClearedAfterCrash)
        } catch {
            log.write(.info, "cannot use controllers in the control groups of apps: \(error); continuing without them")
        }
    }

    /// Returns the same short name for the same directory, so that the next daemon finds the group. The hash is FNV-1a; Swift's
    /// own differs in each run.
    private static func name(for runtimeDirectory: String) -> String {
        let hash = runtimeDirectory.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "lifed-" + String(hash, radix: 16)
    }
}

extension KeeperProgram {
    private static let name = "lifed-keeper"

    /// The program in its installed place, or in the same directory as the daemon, as after a build.
    init(beside daemon: String, directory: String) {
        let own = daemon.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let paths = ["\(own)/\(Self.name)", "\(own)/../lib/lifed/\(Self.name)"]
        self.init(path: paths.first { unsafe access($0, X_OK) == 0 } ?? paths[1], directory: directory)
    }
}
