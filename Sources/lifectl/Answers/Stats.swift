import ArgumentParser
import ControlAPI

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Show figures: time in each state, how quick switches were, how apps ended.",
        discussion: """
            Of the last day, unless --since says otherwise, as far as the journal or the daemon's memory goes back. \
            A switch is counted from when the app before begins to leave, or this one takes its first step, until it is \
            active.

            --openmetrics prints the daemon's own counters, since it was started, for Prometheus and its relatives.

            Example: lifectl stats --since today
            """)

    @Flag(help: "Print the daemon's counters as an OpenMetrics text.")
    var openmetrics = false

    @OptionGroup var history: HistoryOptions
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !openmetrics || !options.json && history.since == nil && history.from == nil else {
            throw ValidationError("--openmetrics goes without --json, --since and --from")
        }
    }

    func run() throws {
        if openmetrics { return try showMetrics() }
        let now = Instants.now
        var source = HistorySource(options, history, doing: "cannot show figures", now: now)
        let isAll = source.since == nil
        source.since = source.since ?? now - 86_400_000_000
        let events = try source.events()
        let figures = Statistics(events, start: isAll ? nil : source.since, end: now, apps: (try? runningApps()) ?? [])
        try options.show(figures) { present in present.statistics(figures) }
    }

    private func runningApps() throws -> [App] {
        var session = try Session(options, doing: "cannot list the apps")
        return try session.call(.list).apps
    }

    private func showMetrics() throws {
        var session = try Session(options, doing: "cannot get the figures")
        let families = try session.stream(MetricsInterface.Method.describe.qualified, of: MetricFamily.self)
        let metrics = try session.stream(MetricsInterface.Method.list.qualified, of: Metric.self)
        try StandardStream.output.write(OpenMetrics(families: families, metrics: metrics).text)
    }
}
