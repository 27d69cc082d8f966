import Configuration
import Glibc

/// Where log entries go.
nonisolated public enum LogTarget: String, CaseIterable, Sendable {
    /// To the systemd journal.
    case journal
    /// To standard error, one line an entry.
    case console
    /// To the journal where there is one, else to standard error.
    case auto
}

/// How one daemon is told apart from the others on the machine.
nonisolated public struct Options: Sendable {
    /// Whether this is a person's own daemon rather than the machine's.
    public var isUser = false
    /// Where the control socket is; nil for the instance's own place.
    public var runtimeDirectory: String?
    /// Where the apps' own directories are; nil for the instance's own place.
    public var stateDirectory: String?
    /// Where the only configuration is; nil for the instance's own places.
    public var configurationDirectory: String?
    /// Where log entries go.
    public var logTarget = LogTarget.auto
    /// Whether the controllers of the unit's control group may be used: something takes them away after a crash.
    public var usesControllers = false

    /// The options as they were given; what is nil has its instance's own place.
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

    /// Apps are started elsewhere, and must find what they are told of.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(directory) }
        return unsafe String(cString: directory) + "/" + path
    }
}

/// Why the daemon cannot start, in words for the person who started it.
nonisolated public struct StartError: Error, CustomStringConvertible {
    /// One sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Options {
    var instance: Instance { isUser ? .user : .system }
}

/// The places of one daemon, found from its options and its environment.
struct Places {
    let runtime: String
    let state: String
    let configuration: [String]
    let isConfigurationNamed: Bool

    var socket: String { runtime + "/control" }
    var lock: String { runtime + "/lock" }
    var returnSocket: String { runtime + "/channel" }
    var stateFile: String { runtime + "/state" }

    init(options: Options, environment: [String: String]) throws(StartError) {
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
        isConfigurationNamed = options.configurationDirectory != nil
        configuration =
            options.configurationDirectory.map { [$0] }
            ?? ConfigurationLoader.standardDirectories(
                for: options.instance, environment: environment)
    }

    private static func standardRuntime(
        _ options: Options, _ environment: [String: String]
    ) throws(StartError) -> String {
        guard options.isUser else { return "/run/lifed" }
        guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else {
            throw StartError("XDG_RUNTIME_DIR is not set; set it, or name a place with --runtime-directory")
        }
        return directory + "/lifed"
    }

    private static func standardState(
        _ options: Options, _ environment: [String: String]
    ) throws(StartError) -> String {
        guard options.isUser else { return "/var/lib/lifed" }
        if let directory = environment["XDG_STATE_HOME"], directory.hasPrefix("/") { return directory + "/lifed" }
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw StartError("HOME is not set; set it, or name a place with --state-directory")
        }
        return home + "/.local/state/lifed"
    }
}

/// The environment of this process.
nonisolated func currentEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
        // By bytes: the sign and an accent at the beginning of the value are one character.
        let pair = unsafe String(cString: text).utf8
            .split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        if pair.count == 2 { result[pair[0]] = pair[1] }
        unsafe entry += 1
    }
    return result
}
