import Glibc
import LifecycleTypes

/// Merges the `lifed.toml` of several directories, key by key.
struct SettingsReader {
    private(set) var settings = DaemonSettings()

    /// Where the home app was named, for the problem of there being no such app.
    private var homeAppPlace: (file: String, line: Int?)?
    /// Where the groups of administrators were named.
    private var administratorsPlace: (file: String, line: Int?)?

    /// Reads one file, which outranks all that were read before it. No file is no problem.
    ///
    /// - Parameter takesHomeApp: False for a file whose home app is that of another daemon.
    mutating func read(
        _ file: String, takesHomeApp: Bool = true, reportingTo problems: inout ProblemList
    ) throws(LoadFailure) {
        let homeApp = settings.homeApp
        let homeAppPlace = homeAppPlace
        defer {
            if !takesHomeApp {
                settings.homeApp = homeApp
                self.homeAppPlace = homeAppPlace
            }
        }
        do throws(Defect) {
            guard case .text(let text)? = try TextFile.readTrusted(file) else { return }
            try apply(text, of: file, reportingTo: &problems)
        } catch {
            if let failure = LoadFailure(error, at: file) { throw failure }
            problems.add(Problem(error, of: file))
        }
    }

    private mutating func apply(
        _ text: String, of file: String, reportingTo problems: inout ProblemList
    ) throws(Defect) {
        let document = try TOMLDocument(text)
        let outcome = DaemonSettings.schema.apply(document, of: file, to: &settings)
        if outcome.accepted.contains(["homeApp"]) { homeAppPlace = (file, document.line(of: ["homeApp"])) }
        let administrators = ["access", "administrators"]
        if outcome.accepted.contains(administrators) {
            administratorsPlace = (file, document.line(of: administrators))
        }
        problems.add(outcome.problems)
    }

    /// Leaves a home app that is not among `ids` out.
    mutating func requireHomeApp(among ids: some Sequence<String>, reportingTo problems: inout ProblemList) {
        guard let id = settings.homeApp, let homeAppPlace, !ids.contains(id) else { return }
        settings.homeApp = nil
        let message = "cannot use homeApp: no usable manifest has the id \(id.quoted); ignoring the key"
        problems.add(Problem(file: homeAppPlace.file, line: homeAppPlace.line, message: message))
    }

    /// Reports groups of administrators that the machine does not have. They may come later.
    func checkAdministrators(reportingTo problems: inout ProblemList) {
        guard let administratorsPlace else { return }
        for group in settings.access.administrators.sorted() where !UserDatabase.has(group: group) {
            let message =
                "cannot use access.administrators: the machine has no group \(group.quoted); add the group or correct the name"
            problems.add(Problem(file: administratorsPlace.file, line: administratorsPlace.line, message: message))
        }
    }
}

extension DaemonSettings {
    /// Every key of `lifed.toml`.
    static let schema = Schema<DaemonSettings>(keys: generalKeys + memoryKeys + resourceKeys)

    private static let generalKeys: [Key<DaemonSettings>] = [
        Key("homeApp", .identifier, \.homeApp),
        Key("foregroundLimit", .integer(in: 1...16), \.foregroundLimit),
        Key("containment", .choice, \.containment),
        Key("onExit", .choice, \.onExit),
        Key("visible", .choice, \.visible),
        Key("playing", .choice, \.playing),
        Key("defaults", .defaultApps, \.defaults),
        Key("adopt", .adoptRules, \.adopt),
        Key("terminal", .terminal, \.terminal),
        Key("helpers", .programNames, \.helpers),

        Key("desktop.manage", .choice, \.desktop.manage),
        Key("desktop.allow", .patterns, \.desktop.allow),
        Key("desktop.deny", .patterns, \.desktop.deny),
        Key("desktop.notifications", .boolean, \.desktop.notifications),

        Key("timeouts.willResignActive", .duration, \.timeouts.willResignActive),
        Key("timeouts.didEnterBackground", .duration, \.timeouts.didEnterBackground),
        Key("timeouts.termination", .duration, \.timeouts.termination),
        Key("timeouts.background", .duration, \.timeouts.background),
        Key("timeouts.launch", .duration, \.timeouts.launch),
        Key("timeouts.callback", .duration, \.timeouts.callback),
        Key("timeouts.task", .duration, \.timeouts.task),
        Key("timeouts.taskExpiration", .duration, \.timeouts.taskExpiration),
        Key("timeouts.suspension", .duration, \.timeouts.suspension),

        Key("access.administrators", .groupNames, \.access.administrators),

        Key("limits.clients", .integer(in: 1...65_536), \.limits.clients),
        Key("limits.messageBytes", .integer(in: 4096...67_108_864), \.limits.messageBytes),
        Key("limits.monitorBytes", .integer(in: 4096...67_108_864), \.limits.monitorBytes),
        Key("limits.clientsBytes", .integer(in: 1_048_576...1_073_741_824), \.limits.clientsBytes),
        Key("limits.tasks", .integer(in: 1...1024), \.limits.tasks),
        Key("limits.apps", .integer(in: 1...100_000), \.limits.apps),
        Key("limits.processes", .processLimit, \.limits.processes),
    ]

    private static let memoryKeys: [Key<DaemonSettings>] = [
        Key("memory.warning", .integer(in: 1...100), \.memory.warning),
        Key("memory.critical", .integer(in: 1...100), \.memory.critical),
        Key("memory.window", .pressureWindow, \.memory.window),
        Key("memory.minimumAvailable", .size, \.memory.minimumAvailable),
        Key("memory.reserve", .integer(in: 0...50), \.memory.reserve),
        Key("memory.suspendedLimit", .integer(in: 0...100_000), \.memory.suspendedLimit),
        Key("memory.reclaimWhenSuspended", .boolean, \.memory.reclaimWhenSuspended),
    ]

    private static let resourceKeys: [Key<DaemonSettings>] =
        keys(of: "active", \.resources.active) + keys(of: "inactive", \.resources.inactive)
        + keys(of: "background", \.resources.background) + keys(of: "suspended", \.resources.suspended)

    private typealias StateResources = any WritableKeyPath<DaemonSettings, Resources.State> & Sendable

    /// Returns the keys of one table of resources.
    private static func keys(of state: String, _ resources: StateResources) -> [Key<DaemonSettings>] {
        [
            Key("resources.\(state).cpuWeight", .own(or: .integer(in: 1...10_000)), resources, \.cpuWeight),
            Key("resources.\(state).ioWeight", .own(or: .integer(in: 1...10_000)), resources, \.ioWeight),
            Key("resources.\(state).memoryLow", .own(or: .size), resources, \.memoryLow),
            Key("resources.\(state).nice", .own(or: .integer(in: -20...19)), resources, \.nice),
            Key("resources.\(state).ioPriority", .own(or: .ioPriority), resources, \.ioPriority),
            Key(
                "resources.\(state).oomScoreAdjustment", .own(or: .integer(in: -1000...1000)), resources,
                \.oomScoreAdjustment),
            Key("resources.\(state).timerSlack", .own(or: .timerSlack), resources, \.timerSlack),
        ]
    }
}
