import ControlAPI
import LifecycleCore
import Varlink

/// The calls of `io.systemd.Metrics`.
struct MetricsCalls {
    let service: ControlService

    /// The number of apps with metrics of their own. All replies of a call may wait for a slow reader together.
    private static let objectLimit = 512

    func perform(_ call: ClientCall) throws {
        guard call.scope.onlyApp == nil else {
            return service.server.refuse(call, "an app has no right to the metrics")
        }
        guard let method = MetricsMethod(rawValue: call.call.methodName) else { return }
        try dispatch(method, call.call, call)
    }

    private func stream(_ replies: [some JSONWritable], _ call: ClientCall) {
        guard let last = replies.last else { return }
        call.answer(replies.dropLast().map { .continuing($0) } + [VarlinkReply(last)])
    }

    private static let families = [
        MetricsDescribeReply(name: "org.lifed.apps", description: "Known apps, by state", type: .gauge),
        MetricsDescribeReply(name: "org.lifed.app_state", description: "The state of a running app", type: .string),
        MetricsDescribeReply(name: "org.lifed.clients", description: "Clients of the control socket", type: .gauge),
        MetricsDescribeReply(
            name: "org.lifed.transitions_total", description: "Changes of an app's state, by the state reached",
            type: .counter),
        MetricsDescribeReply(
            name: "org.lifed.ends_total", description: "Ends of apps, by reason", type: .counter),
        MetricsDescribeReply(
            name: "org.lifed.failed_launches_total", description: "Launches that failed", type: .counter),
        MetricsDescribeReply(
            name: "org.lifed.unanswered_callbacks_total", description: "Callbacks without an answer in time",
            type: .counter),
        MetricsDescribeReply(
            name: "org.lifed.killed_after_timeout_total",
            description: "Apps that were killed after their termination timeout",
            type: .counter),
    ]

    private var metrics: [MetricsListReply] {
        let counts = service.history.counts
        let apps = service.driver.apps
        var states: [AppState: Int] = [:]
        for app in apps { states[app.state, default: 0] += 1 }
        var result = AppState.allCases.map { state in
            metric("apps", states[state] ?? 0, ("state", state.rawValue))
        }
        result += apps.lazy.filter { $0.state != .notRunning }.prefix(Self.objectLimit).map { app in
            MetricsListReply(name: "org.lifed.app_state", value: .string(app.state.rawValue), object: app.id.name)
        }
        result.append(metric("clients", service.server.clientCount))
        result += AppState.allCases.map { state in
            metric("transitions_total", counts.arrivals[state] ?? 0, ("to", state.rawValue))
        }
        result += counts.ends.sorted { $0.key.rawValue < $1.key.rawValue }.map { reason, count in
            metric("ends_total", count, ("reason", reason.rawValue))
        }
        return result + [
            metric("failed_launches_total", counts.failedLaunches),
            metric("unanswered_callbacks_total", counts.unanswered),
            metric("killed_after_timeout_total", counts.killedAfterTimeout),
        ]
    }

    private func metric(_ name: String, _ value: some BinaryInteger, _ field: (String, String)? = nil)
        -> MetricsListReply
    {
        MetricsListReply(
            name: "org.lifed.\(name)", value: .integer(Int64(clamping: value)),
            fields: field.map { [$0: .string($1)] })
    }
}

extension MetricsCalls: MetricsHandler {
    typealias Context = ClientCall
    typealias Failure = any Error

    func failure(_ error: ServiceError) -> any Error { error }
    func list(for call: ClientCall) { stream(metrics, call) }
    func describe(for call: ClientCall) { stream(Self.families, call) }
}
