import ArgumentParser
import ControlAPI
import Glibc

struct Timeline: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw what happened: a lane an app, a colour a state, callbacks and kills marked.",
        discussion: """
            Shows the last ten minutes unless --since says otherwise. --svg writes a picture for browsers and reports.

            Example: lifectl timeline --since 1h --svg timeline.svg
            """)

    @Option(help: ArgumentHelp("Write an SVG picture into this file; - is standard output.", valueName: "file"))
    var svg: String?

    @OptionGroup var history: HistoryOptions
    @OptionGroup var options: GlobalOptions

    func validate() throws {
        guard !(svg != nil && options.json) else { throw ValidationError("--svg and --json exclude one another") }
    }

    func run() throws {
        let now = Instants.now
        var source = HistorySource(options, history, doing: "cannot draw the timeline", now: now)
        source.since = source.since ?? now - 600_000_000
        // What has run all the time has not changed, and so is in no history.
        let apps = (try? runningApps()) ?? []
        let lanes = Lanes(try source.events(), start: source.since, end: now, apps: apps)
        guard let svg else {
            return try options.show(lanes) { present in
                present.timeline(lanes, width: StandardStream.output.columns ?? 100)
            }
        }
        let picture = TimelineDrawing(lanes: lanes).text
        if svg == "-" { return try StandardStream.output.write(picture) }
        try TextFile.write(picture, to: svg)
        try StandardStream.output.write("\(Text.printable(svg)): \(lanes.lanes.count) apps\n")
    }

    private func runningApps() throws -> [App] {
        var session = try Session(options, doing: "cannot list the apps")
        return try session.call(.list).apps
    }
}
