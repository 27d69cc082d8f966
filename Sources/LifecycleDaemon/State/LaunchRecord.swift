import Configuration
import LifecycleCore
import Processes

/// The saved state of an app's processes.
struct LaunchRecord {
    var tree: SavedTree
    var exitPolicy: Manifest.ExitPolicy
    /// The instant at which the core asked for the launch; identifies the launch among those of the app.
    var launched: Instant?
    /// A Boolean value that indicates whether SIGTERM has been sent. A second one makes many programs exit at once.
    var isAskedToEnd = false
    /// A Boolean value that indicates whether the core knows that the main process has ended.
    var hasReportedExit = false
}

extension LaunchRecord {
    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord([
            "id": id.name, "token": tree.token.rawValue, "main": tree.main.text, "cgroup": tree.cgroup,
            "suspend-method": tree.suspendMethod.rawValue, "exit-policy": exitPolicy.rawValue,
            "launched": launched.map { String($0.microseconds) }, "asked-to-end": isAskedToEnd ? "1" : nil,
            "exit-reported": hasReportedExit ? "1" : nil,
        ])
        for process in tree.heldBefore { record.add("held-before", process.text) }
        record.add("main-ended", tree.exitStatus?.text)
        record.add("taken-in", tree.isAdopted ? "1" : nil)
        record.add("origin", tree.origin)
        record.add("owner", tree.owner.map { String($0.user) })
        for process in tree.strays { record.add("stray", process.text) }
        for unit in tree.units { record.add("unit", unit) }
        return record
    }

    /// - Parameter desiredState: The state of the processes that the core wanted.
    init?(_ record: SavedRecord, desiredState: ProcessTree.DesiredState) {
        guard let token = record["token"].flatMap({ LaunchToken(rawValue: $0) }),
            let main = record["main"].flatMap({ ProcessIdentity(text: $0) })
        else { return nil }
        tree = SavedTree(
            token: token, main: main, cgroup: record["cgroup"],
            suspendMethod: record["suspend-method"].flatMap { SuspendMethod(rawValue: $0) } ?? .signal,
            desiredState: desiredState,
            heldBefore: record.all("held-before").compactMap { ProcessIdentity(text: $0) },
            exitStatus: record["main-ended"].map { ExitStatus(text: $0) })
        tree.isAdopted = record["taken-in"] == "1"
        tree.origin = record["origin"]
        tree.owner = record["owner"].flatMap { UInt32($0) }.map { TreeOwner(user: $0) }
        tree.strays = record.all("stray").compactMap { ProcessIdentity(text: $0) }
        tree.units = record.all("unit")
        exitPolicy = record["exit-policy"].flatMap { Manifest.ExitPolicy(rawValue: $0) } ?? .main
        launched = record["launched"].flatMap { UInt64($0) }.map { Instant(microseconds: $0) }
        isAskedToEnd = record["asked-to-end"] == "1"
        hasReportedExit = record["exit-reported"] == "1"
    }
}

extension ProcessIdentity {
    fileprivate nonisolated var text: String { "\(pid):\(startTime)" }

    fileprivate nonisolated init?(text: String) {
        let parts = text.split(separator: ":")
        guard parts.count == 2, let pid = ProcessID(parts[0]), pid > 1, let start = UInt64(parts[1]) else { return nil }
        self.init(pid: pid, startTime: start)
    }
}

extension Processes.ExitStatus {
    fileprivate var text: String {
        switch self {
        case .exited(let code): "code:\(code)"
        case .killed(let signal, let dumpedCore): "\(dumpedCore ? "core" : "signal"):\(signal.rawValue)"
        case .unknown: "unknown"
        }
    }

    fileprivate init(text: String) {
        let parts = text.split(separator: ":")
        switch (parts.first, parts.last.flatMap { Int32($0) }) {
        case ("code", let code?): self = .exited(code: code)
        case ("signal", let number?): self = .killed(by: Signal(rawValue: number), dumpedCore: false)
        case ("core", let number?): self = .killed(by: Signal(rawValue: number), dumpedCore: true)
        default: self = .unknown
        }
    }
}
