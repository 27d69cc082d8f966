import Configuration
import Glibc
import LifecycleCore
import Processes
import Systemd

/// The target of log entries.
nonisolated public enum LogTarget: String, CaseIterable, Sendable {
    /// The systemd journal.
    case journal
    /// Standard error, one line an entry.
    case console
    /// The journal if there is one, or else standard error.
    case auto
}

/// The options of a daemon. A directory that is nil is that of the instance.
nonisolated public struct Options: Sendable {
    /// A Boolean value that indicates whether the daemon is a user's own rather than the system's.
    public var isUser = false
    /// The directory of the control socket.
    public var runtimeDirectory: String?
    /// The directory of the apps' own directories.
    public var stateDirectory: String?
    /// The only directory to read the configuration from.
    public var configurationDirectory: String?
    /// The target of log entries.
    public var logTarget = LogTarget.auto
    /// A Boolean value that indicates whether the controllers of the unit's control group may be enabled: the unit disables
    /// them after a crash.
    public var usesControllers = false

    /// Creates options. Relative paths are made absolute.
    ///
    /// - Parameters:
    ///   - isUser: A Boolean value that indicates whether the daemon is that of a user.
    ///   - runtimeDirectory: The directory of the control socket; nil for the default of the instance.
    ///   - stateDirectory: The directory of the apps' own directories; nil for the default of the instance.
    ///   - configurationDirectory: The only directory of the configuration; nil for the standard directories.
    ///   - logTarget: The target of log entries.
    ///   - usesControllers: A Boolean value that indicates whether the controllers of the unit's control group may be enabled.
    public init(
        isUser: Bool = false, runtimeDirectory: String? = nil, stateDirectory: String? = nil,
        configurationDirectory: String? = nil, logTarget: LogTarget = .auto, usesControllers: Bool = false
    ) {
        self.isUser = isUser
        self.runtimeDirectory = runtimeDirectory.map(Self.absolute)
        self.stateDirectory = stateDirectory.map(Self.absolute)
        self.configurationDirectory = configurationDirectory.map(Self.absolute)
        self.logTarget = logTarget
        self.usesControllers = usesControllers
    }

    /// Apps have other working directories.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }
}

extension Options {
    var instance: Instance { isUser ? .user : .system }
}

/// The directories and files of a daemon.
struct DaemonPaths {
    let runtime: String
    let state: String

    var socket: String { runtime + "/control" }
    var lock: String { runtime + "/lock" }
    var appSocket: String { runtime + "/channel" }
    var stateFile: String { runtime + "/state" }
    /// The directory of the sockets of keepers.
    var keepers: String { runtime + "/keepers" }

    init(options: Options, environment: [String: String]) throws(DaemonError) {
        if let named = options.runtimeDirectory {
            runtime = named
        } else {
            runtime = try Self.standardRuntime(options, environment)
        }
        if let named = options.stateDirectory {
            state = named
        } else {
            state = try Self.standardState(options, environment)
        }
    }

    private static let ofSystem = (runtime: "/run/lifed", state: "/var/lib/lifed")

    /// Returns whether a path is that of a directory of the system's daemon, or leads below one.
    static func isOfSystem(_ path: String) -> Bool {
        [ofSystem.runtime, ofSystem.state].contains { path == $0 || path.utf8.starts(with: "\($0)/".utf8) }
    }

    private static func standardRuntime(
        _ options: Options, _ environment: [String: String]
    ) throws(DaemonError) -> String {
        guard options.isUser else { return ofSystem.runtime }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else {
            throw DaemonError(
                .start,
                "cannot find the runtime directory: XDG_RUNTIME_DIR is not set; set it, or use --runtime-directory")
        }
        return directory + "/lifed"
    }

    private static func standardState(
        _ options: Options, _ environment: [String: String]
    ) throws(DaemonError) -> String {
        guard options.isUser else { return ofSystem.state }
        guard let directory = baseDirectory("XDG_STATE_HOME", inHome: ".local/state", of: environment) else {
            throw DaemonError(
                .start, "cannot find the state directory: HOME is not set; set it, or use --state-directory")
        }
        return directory + "/lifed"
    }
}

nonisolated func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
        // By bytes: the sign and a combining accent after it are one character.
        let pair = unsafe String(cString: text).utf8
            .split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if pair.count == 2 { result[pair[0]] = pair[1] }
        unsafe entry += 1
    }
    return result
}

extension ConfigurationLoader {
    /// - Parameter checksPrograms: Whether a program that does not exist is a problem. The daemon does not look them up: their
    ///   file systems may not answer. It reports them when an app is launched.
    init(_ options: Options, environment: [String: String], checksPrograms: Bool = false) {
        let instance = options.instance
        let searchPath = checksPrograms ? environment["PATH"] ?? SpawnRequest.defaultSearchPath : nil
        self.init(
            directories: options.configurationDirectory.map { [$0] }
                ?? Self.standardDirectories(for: instance, environment: environment),
            instance: instance, searchPath: searchPath, requiresDirectories: options.configurationDirectory != nil,
            entries: DesktopEntries(for: instance, environment: environment, searchPath: searchPath))
    }

    /// Reads everything for the daemon, and writes the problems to its log.
    ///
    /// - Throws: A transient ``DaemonError``: apps whose manifests are not read would be forgotten, with their records.
    func read(log: any JournalSink) throws(DaemonError) -> LoadedConfiguration {
        let configuration = try loadOrFail()
        for problem in configuration.problems { log.write(LogEntry(problem)) }
        return configuration
    }

    /// Reads everything, with the errors of the daemon.
    func loadOrFail() throws(DaemonError) -> LoadedConfiguration {
        do throws(LoadFailure) {
            return try load()
        } catch {
            throw DaemonError(.start, "cannot read \(error.file)", errno: Errno(rawValue: error.error))
        }
    }
}

extension LogEntry {
    init(_ problem: Problem) {
        self.init(
            id: .configurationProblem, priority: .warning, message: problem.description,
            fields: [("LIFED_FILE", problem.file), ("LIFED_REASON", problem.message)]
                + (problem.line.map { [("LIFED_LINE", String($0))] } ?? []))
    }
}

/// The table of the keys of a manifest, for scripts/manual.
public nonisolated var manifestKeys: String { Manifest.manual }

/// Reads the configuration that a daemon with these options would read.
///
/// - Returns: The problems, one line each.
/// - Throws: A ``DaemonError`` if a file cannot be read for now.
public func checkConfiguration(options: Options) throws -> [String] {
    let environment = currentEnvironment()
    let loader = ConfigurationLoader(options, environment: environment, checksPrograms: true)
    return try loader.loadOrFail().problems.map(\.description)
}
