import Configuration
import LifecycleCore
import Processes

/// What is kept of an app's processes.
struct LaunchRecord {
    var tree: SavedTree
    var exitPolicy: Manifest.ExitPolicy
    /// When the core wanted the launch; tells this one from an earlier one of the same app.
    var launched: Instant?
    /// Whether SIGTERM has been sent, which is not repeated: a second one makes many programs give up at once.
    var isAskedToEnd = false
    /// Whether the core knows that the main process ended.
    var hasReportedExit = false
}

extension LaunchRecord {
    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("token", tree.token.rawValue)
        record.add("main", tree.main.text)
        record.add("cgroup", tree.cgroup)
        record.add("suspend-method", tree.suspendMethod.word)
        record.add("exit-policy", exitPolicy.rawValue)
        record.add("launched", launched.map { String($0.microseconds) })
        record.add("asked-to-end", isAskedToEnd ? "1" : nil)
        record.add("exit-reported", hasReportedExit ? "1" : nil)
        for process in tree.heldBefore { record.add("held-before", process.text) }
        record.add("main-ended", tree.exitStatus?.text)
        record.add("taken-in", tree.isAdopted ? "1" : nil)
        record.add("origin", tree.origin)
        record.add("owner", tree.owner.map { String($0.user) })
        for process in tree.strays { record.add("stray", process.text) }
        return record
    }

    /// - Parameter desiredState: What the core wanted of the processes.
    init?(_ record: SavedRecord, desiredState: ProcessTree.DesiredState) {
        guard let token = record["token"].flatMap({ LaunchToken(rawValue: $0) }),
            let main = record["main"].flatMap({ ProcessIdentity(text: $0) })
        else { return nil }
        tree = SavedTree(
            token: token, main: main, cgroup: record["cgroup"],
            suspendMethod: record["suspend-method"].flatMap { SuspendMethod(word: $0) } ?? .signal,
            desiredState: desiredState,
            heldBefore: record.all("held-before").compactMap { ProcessIdentity(text: $0) },
            exitStatus: record["main-ended"].map { ExitStatus(text: $0) })
        tree.isAdopted = record["taken-in"] == "1"
        tree.origin = record["origin"]
        tree.owner = record["owner"].flatMap { UInt32($0) }.map { TreeOwner(user: $0) }
        tree.strays = record.all("stray").compactMap { ProcessIdentity(text: $0) }
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

extension SuspendMethod {
    fileprivate var word: String {
        switch self {
        case .signal: "signal"
        case .freezer: "freezer"
        case .both: "both"
        }
    }

    fileprivate init?(word: String) {
        guard let method = Manifest.SuspendMethod(rawValue: word) else { return nil }
        self.init(method)
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
