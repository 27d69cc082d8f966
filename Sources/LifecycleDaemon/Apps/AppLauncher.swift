import AppChannel
import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Makes the spawn request of an app: user, environment, directories, output.
struct AppLauncher {
    let isSystem: Bool
    let stateDirectory: String
    let appSocket: String
    let environment: AppEnvironment
    let usesJournal: Bool
    let descriptorLimit: UInt64?
    let accounts = UserAccounts()

    private static let channelNumber: Int32 = 3

    /// Makes the request. It borrows the output and the channel, which must outlive the spawn.
    ///
    /// - Parameters:
    ///   - url: The URL that the app is launched to open; nil for none.
    ///   - channel: The app's end of its channel; nil for none.
    func request(
        for id: AppID, _ definition: AppDefinition, launch: LaunchFields, url: String?, output: AppOutput,
        channel: borrowing Descriptor?
    ) throws(DaemonError) -> SpawnRequest {
        let account = try account(of: definition.user)
        let credentials = try credentials(of: definition, account)
        let privateDirectory = try makeStateDirectory(for: id, credentials)
        let command = definition.commandLine(opening: url)
        var request = SpawnRequest(
            program: command.first ?? "", arguments: Array(command.dropFirst()),
            environment: environment.environment(
                of: id, definition, launch: launch, account: account, stateDirectory: privateDirectory))
        let home = account?.home ?? (credentials == nil ? ownHome : definition.environment["HOME"])
        request.workingDirectory = definition.workingDirectory ?? home ?? "/"
        if let credentials, credentials.userID != geteuid() { request.credentials = credentials }
        request.descriptorLimit = descriptorLimit
        request.confinement = definition.confinement
        request.hasPrivateTemporaryDirectory = definition.privateTmp
        request.writablePaths = Self.writablePaths(of: definition, stateDirectory: privateDirectory)
        request.standardOutput = output.standardOutput
        request.standardError = output.standardError
        request.ignoresSIGPIPE = output.isJournal
        let channelSource: Int32?
        switch channel {
        case .some(let descriptor): channelSource = descriptor.rawValue
        case .none: channelSource = nil
        }
        if let number = channelSource {
            request.environment[.descriptor] = String(Self.channelNumber)
            request.environment[.channel] = Self.identity(ofSocket: number)
            request.environment[.socket] = appSocket
            request.extraDescriptors = [DescriptorMapping(source: number, target: Self.channelNumber)]
        }
        return request
    }

    /// Returns the device and the inode number of a socket, by which a program recognizes it; see `JOURNAL_STREAM` in
    /// systemd.exec(5). Nil if the descriptor is not open.
    static func identity(ofSocket descriptor: Int32) -> String? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }

    /// Returns the paths below which an app can write; nil for everywhere. Those below another one are left out: the
    /// app could put a link to elsewhere in their place, which its next launch would follow.
    private static func writablePaths(of definition: AppDefinition, stateDirectory: String) -> [String]? {
        guard let listed = definition.writablePaths else { return nil }
        let places: [String] = ["/tmp", "/var/tmp"]
        let temporary = places.filter { unsafe access($0, F_OK) == 0 }
        let own = [stateDirectory] + (definition.privateTmp ? temporary : [])
        let paths = Set(listed + own)
        if paths.contains("/") { return ["/"] }
        return paths.filter { path in !paths.contains { path.hasPrefix($0 + "/") } }.sorted()
    }

    /// The home directory of the daemon's own user; nil for the system's daemon.
    private var ownHome: String? { isSystem ? nil : environment.daemon["HOME"] }

    /// Returns the account that the manifest names; nil if it names none.
    private func account(of user: AppDefinition.User) throws(DaemonError) -> UserAccount? {
        guard case .named(let name) = user else { return nil }
        do throws(UserLookupError) {
            return try accounts.account(of: name)
        } catch {
            throw DaemonError(.launch, "cannot become user \(name): as of the latest reload, \(error)")
        }
    }

    /// Returns the credentials of the account, or of the caller of an ad-hoc app; nil for those of the daemon.
    private func credentials(
        of definition: AppDefinition, _ account: UserAccount?
    ) throws(DaemonError) -> Credentials? {
        if let account { return account.credentials }
        guard case .numbered(let user) = definition.user, user != geteuid() else { return nil }
        guard let group = definition.groups.first else {
            throw DaemonError(
                .launch,
                "cannot become user \(user): its account was not found when the app was restored; launch the app with 'lifectl run'"
            )
        }
        return Credentials(userID: user, groupID: group, groups: definition.groups)
    }

    /// Returns the output of an app. If standard error of the daemon is a file, which every app could truncate, or a terminal,
    /// which another user could read from and stop, the app writes to a file of its own, in a directory that apps cannot reach.
    func output(of id: AppID, _ definition: AppDefinition) throws(DaemonError) -> AppOutput {
        let user = try credentials(of: definition, account(of: definition.user))?.userID ?? geteuid()
        guard !usesJournal, AppOutput.sharesFile || AppOutput.isTerminalOfOther(than: user) else {
            return AppOutput(id, usesJournal: usesJournal)
        }
        try PrivateDirectory.make(stateDirectory, mode: isSystem ? 0o711 : 0o700)
        try PrivateDirectory.add(outputDirectory, mode: 0o700)
        return AppOutput(file: outputFile(of: id))
    }

    /// Returns where a user finds the output of an app: the words after "read its output".
    func outputLocation(of id: AppID) -> String {
        if usesJournal { return "with 'journalctl -t \(id)'" }
        let hasFile = unsafe access(outputFile(of: id), F_OK) == 0
        return AppOutput.sharesFile || hasFile ? "in \(outputFile(of: id))" : "where lifed writes its log"
    }

    private var outputDirectory: String { stateDirectory + "/output" }
    private func outputFile(of id: AppID) -> String { outputDirectory + "/" + id.name }

    /// The apps that have a file for their output.
    var appsWithOutput: [AppID] { (fileNames(in: outputDirectory) ?? []).map { AppID($0) } }

    func removeOutput(of id: AppID) { _ = unsafe unlink(outputFile(of: id)) }

    /// Removes the empty directory of a forgotten app: another user's app of the same id could not use it.
    func removeEmptyStateDirectory(of id: AppID) {
        _ = unsafe rmdir(ownDirectory(of: id))
    }

    private var appsDirectory: String { stateDirectory + "/apps" }
    private func ownDirectory(of id: AppID) -> String { appsDirectory + "/" + id.name }

    /// Makes the app's private directory, which stays across launches.
    private func makeStateDirectory(for id: AppID, _ owner: Credentials?) throws(DaemonError) -> String {
        let own = ownDirectory(of: id)
        Self.exchangeDirectory(own, for: owner?.userID ?? geteuid())
        // The users of apps reach their own directories through these, and can list nothing.
        try PrivateDirectory.make(stateDirectory, mode: isSystem ? 0o711 : 0o700)
        try PrivateDirectory.add(appsDirectory, mode: isSystem ? 0o711 : 0o700)
        try PrivateDirectory.add(own, mode: 0o700, owner: owner.map { ($0.userID, $0.groupID) })
        return own
    }

    /// Moves the state whose restoration has failed aside, so that the app neither reads nor replaces it.
    func setStateAside(of id: AppID) {
        let directory = unsafe open(ownDirectory(of: id), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = unsafe renameat(directory, AppProtocol.stateFile, directory, AppProtocol.failedStateFile)
        close(directory)
    }

    /// Moves the directory of another user's app of the same id aside, and brings back the one that the user's own has left.
    /// An id has no `~`. A directory that cannot be moved is refused later.
    static func exchangeDirectory(_ path: String, for user: uid_t) {
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            guard status.st_uid != user, unsafe rename(path, "\(path)~\(status.st_uid)") == 0 else { return }
        }
        // The directory of the other app may have been empty, and was removed when that ended.
        _ = unsafe rename("\(path)~\(user)", path)
    }
}

/// The output of an app: the journal under the app's id, or the daemon's standard error.
final class AppOutput {
    /// Nil for none, if the journal is not available. The daemon's own output is then a stream of journald, too.
    let standardOutput: Int32?
    let standardError: Int32?
    /// True if the output goes to journald. An app must survive the end of it, as services of systemd do.
    let isJournal: Bool

    init(_ id: AppID, usesJournal: Bool) {
        isJournal = usesJournal
        if usesJournal {
            standardOutput = Self.stream(of: id, priority: .info)
            standardError = Self.stream(of: id, priority: .warning)
        } else {
            standardOutput = Self.copyOfStandardError()
            standardError = Self.copyOfStandardError()
        }
    }

    /// Output to a file, after what is there; to nowhere if it cannot be opened.
    init(file: String) {
        isJournal = false
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC
        let descriptor = unsafe open(file, flags, 0o600)
        standardOutput = descriptor < 0 ? nil : descriptor
        standardError = descriptor < 0 ? nil : fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    }

    /// A Boolean value that indicates whether standard error of the daemon is a file.
    static var sharesFile: Bool {
        var status = stat()
        return unsafe fstat(STDERR_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns whether standard error of the daemon is a terminal that neither the user nor the daemon's own user has.
    static func isTerminalOfOther(than user: uid_t) -> Bool {
        var status = stat()
        guard user != geteuid(), isatty(STDERR_FILENO) == 1 else { return false }
        return unsafe fstat(STDERR_FILENO, &status) != 0 || status.st_uid != user
    }

    deinit {
        for descriptor in [standardOutput, standardError] {
            if let descriptor { close(descriptor) }
        }
    }

    private static func stream(of id: AppID, priority: Journal.Priority) -> Int32? {
        (try? Journal().streamDescriptor(identifier: id.name, priority: priority))?.release()
    }

    private static func copyOfStandardError() -> Int32? {
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        return descriptor < 0 ? nil : descriptor
    }
}

/// The environment of a launched app.
struct AppEnvironment {
    /// The variables for the daemon itself, from its service manager, and those of a launch.
    private static let ownVariables = Set(
        [
            "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
            "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID", "MEMORY_PRESSURE_WATCH",
            "MEMORY_PRESSURE_WRITE", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CONFIGURATION_DIRECTORY",
        ] + AppVariable.allCases.map(\.rawValue))

    private static let machineVariables: Set<String> = ["PATH", "LANG", "LANGUAGE", "TZ"]

    let daemon: [String: String]

    init(daemon: [String: String]) {
        self.daemon = daemon.filter { !Self.ownVariables.contains($0.key) }
    }

    /// Returns the environment of the app's user, or else the daemon's, with the variables of the definition.
    func environment(
        of id: AppID, _ definition: AppDefinition, launch: LaunchFields, account: UserAccount?, stateDirectory: String
    ) -> [String: String] {
        var result: [String: String]
        if definition.isAdHoc {
            result = definition.environment.filter { !Self.ownVariables.contains($0.key) }
        } else {
            result = account.map(login) ?? daemon
            result.merge(definition.environment) { $1 }
        }
        result[.appID] = id.name
        result[.stateDirectory] = stateDirectory
        result[.launchReason] = launch.reason
        if launch.restores { result[.restore] = "1" }
        if launch.restoreFailed { result[.restoreFailed] = "1" }
        result[.previousState] = launch.previousState
        result[.previousReason] = launch.previousReason
        result[.previousTime] = launch.previousTime.map { String($0) }
        return result
    }

    private func login(_ account: UserAccount) -> [String: String] {
        var result = daemon.filter { Self.machineVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        result["HOME"] = account.home
        result["USER"] = account.name
        result["LOGNAME"] = account.name
        result["SHELL"] = account.shell
        result["XDG_RUNTIME_DIR"] = "/run/user/\(account.userID)"
        return result
    }
}

extension [String: String] {
    fileprivate subscript(variable: AppVariable) -> String? {
        get { self[variable.rawValue] }
        set { self[variable.rawValue] = newValue }
    }
}

/// The accounts of the users that manifests name.
///
/// The name service may wait for a server that does not answer. It is asked when a configuration is read and
/// when a member of a group connects for the first time, and never by a launch.
final class UserAccounts {
    private var accounts: [String: Result<UserAccount, UserLookupError>] = [:]

    /// The time that one answer may take, as long as systemd lets a service start by default.
    private static let answerTime = Duration.seconds(90)

    /// Looks users up, and forgets all others. If the name service fails, a user keeps the account that was found before.
    func update(
        _ names: Set<String>, by lookUp: (String) throws(UserLookupError) -> UserAccount = UserAccount.named
    ) {
        var found: [String: Result<UserAccount, UserLookupError>] = [:]
        for name in names.sorted() {
            // Neither the watchdog nor the time for a start ends the daemon meanwhile.
            try? ServiceManager.notify([.extendTimeout(Self.answerTime)])
            let result = Result { () throws(UserLookupError) in try lookUp(name) }
            if case .failure(.failed) = result, let before = accounts[name] {
                found[name] = before
            } else {
                found[name] = result
            }
        }
        accounts = found
    }

    /// Looks up the groups that users have now. A user without an account has none; if the name service fails, those found
    /// before stay.
    static func groups(of before: [UInt32: Set<UInt32>]) -> [UInt32: Set<UInt32>] {
        var found = before
        for user in before.keys.sorted() {
            try? ServiceManager.notify([.extendTimeout(answerTime)])
            do throws(UserLookupError) {
                let account = try UserAccount.numbered(user)
                found[user] = Set(account.groups + [account.groupID])
            } catch {
                if case .noSuchUser = error { found[user] = [] }
            }
        }
        return found
    }

    /// Returns the account of a user.
    ///
    /// - Throws: The error of the latest lookup.
    func account(of name: String) throws(UserLookupError) -> UserAccount {
        guard let result = accounts[name] else { throw .noSuchUser(name) }
        return try result.get()
    }
}
