import ControlAPI
import LifecycleCore
import Varlink

/// `io.systemd.Metrics`: the daemon's figures, for those who collect figures of services.
extension ControlService {
    /// How many apps have figures of their own. All replies of a call may have to wait for a slow reader together, and
    /// so many fit into what one may make the daemon hold.
    private static let objectLimit = 512

    func tellMetrics(_ call: Call, to connection: ControlConnection) throws(ServiceError) {
        guard connection.scope.onlyApp == nil else {
            server?.refuse(call, from: connection, "an app may not call, whoever's it is,")
            return
        }
        try withoutParameters(call)
        switch MetricsInterface.Method(rawValue: call.methodName) {
        case .list: stream(metrics, call, connection)
        case .describe: stream(Self.families, call, connection)
        case nil: throw .methodNotFound(call.method)
        }
    }

    private func stream(_ replies: [some Encodable], _ call: Call, _ connection: ControlConnection) {
        for reply in replies.dropLast() { connection.send(.continuing(reply), to: call.id) }
        if let last = replies.last { connection.send(Varlink.Reply(last), to: call.id) }
    }

    private static let families = [
        MetricFamily(name: "org.lifed.apps", description: "Apps that are known, by state", type: .gauge),
        MetricFamily(name: "org.lifed.app_state", description: "The state of an app that runs", type: .string),
        MetricFamily(name: "org.lifed.clients", description: "Clients of the control socket", type: .gauge),
        MetricFamily(
            name: "org.lifed.transitions_total", description: "Changes of an app's state, by the state reached",
            type: .counter),
        MetricFamily(name: "org.lifed.ends_total", description: "Apps that have ended, by reason", type: .counter),
        MetricFamily(
            name: "org.lifed.failed_launches_total", description: "Apps that could not be started", type: .counter),
        MetricFamily(
            name: "org.lifed.unanswered_callbacks_total", description: "Callbacks that were not answered in time",
            type: .counter),
        MetricFamily(
            name: "org.lifed.killed_after_grace_total", description: "Apps that outlived their grace after SIGTERM",
            type: .counter),
    ]

    private var metrics: [Metric] {
        let counts = manager.past.counts
        var states: [AppState: Int] = [:]
        for app in manager.core.knownApps.values { states[app.state, default: 0] += 1 }
        var result = AppState.allCases.map { state in
            metric("apps", states[state] ?? 0, fields: ["state": state.rawValue])
        }
        let running = manager.core.knownApps.values.filter { $0.state != .notRunning }.sorted { $0.id < $1.id }
        result += running.prefix(Self.objectLimit).map { app in
            Metric(name: "org.lifed.app_state", value: .word(app.state.rawValue), object: app.id.name)
        }
        result.append(metric("clients", server?.clientCount ?? 0))
        result += zip(AppState.allCases, counts.arrivals).map { state, count in
            metric("transitions_total", count, fields: ["to": state.rawValue])
        }
        result += counts.ends.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            metric("ends_total", count, fields: ["reason": reason.rawValue])
        }
        return result + [
            metric("failed_launches_total", counts.failedLaunches),
            metric("unanswered_callbacks_total", counts.unanswered),
            metric("killed_after_grace_total", counts.killedAfterGrace),
        ]
    }

    private func metric(_ name: String, _ value: some BinaryInteger, fields: [String: String]? = nil) -> Metric {
        Metric(name: "org.lifed.\(name)", value: .number(Int64(clamping: value)), fields: fields)
    }
}
