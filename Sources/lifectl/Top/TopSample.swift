import ControlAPI
import Glibc

/// The apps as they are at one moment, with what their trees use.
struct TopSample: Codable, Equatable {
    struct Row: Codable, Equatable {
        var app: App
        /// The time that the tree's processes have been on a processor, in microseconds; nil where it was not asked for.
        var processorTime: Int64?
        /// What the tree's processes have in memory, in bytes, memory that they share counted in each; nil as above.
        var memory: Int64?
        /// The share of one processor since the sample before, in hundredths of a percent.
        var load: Int64?
        /// What holds the app, what it waits for first.
        var obstacles: [Obstacle]
        /// What comes next.
        var prospects: [Prospect]
    }

    /// When, in microseconds since the epoch.
    var time: Int64
    var rows: [Row]
}

extension TopSample {
    /// Asks the daemon.
    ///
    /// - Parameter visible: Which rows are asked about in detail: each costs a call.
    static func take(
        _ session: inout Session, visible: Range<Int>, before: TopSample?
    ) throws(Failure) -> TopSample {
        let apps = try session.call(.list).apps.filter { $0.state != .notRunning || $0.target != .notRunning }
            .sorted { ($0.state.rank, $0.id) < ($1.state.rank, $1.id) }
        var sample = TopSample(time: Instants.now, rows: [])
        for (index, app) in apps.enumerated() {
            var row = Row(app: app, obstacles: [], prospects: [])
            if visible.contains(index), let explanation = try explanation(of: app.id, &session) {
                row.processorTime = explanation.details.processes.reduce(0) { $0 + $1.cpuTime }
                row.memory = explanation.details.processes.reduce(0) { $0 + residentMemory(of: $1.pid) }
                row.obstacles = explanation.obstacles
                row.prospects = explanation.prospects
            }
            sample.rows.append(row)
        }
        if let before { sample.takeLoads(since: before) }
        return sample
    }

    /// One that has ended meanwhile is no failure.
    private static func explanation(of id: String, _ session: inout Session) throws(Failure) -> Explanation? {
        do throws(Failure) {
            return try session.call(.explain, AppParameters(id: id)).explanation
        } catch {
            guard error.status == .noSuchApp else { throw error }
            return nil
        }
    }

    /// As proc_pid_statm(5) has it; 0 for a process that is gone, or that another machine has.
    private static func residentMemory(of pid: Int64) -> Int64 {
        let fields = TextFile.read("/proc/\(pid)/statm")?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = Int64(fields[1]) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// A tree whose processes have ended takes their time along: the share is then not known.
    mutating func takeLoads(since before: TopSample) {
        let times = Dictionary(before.rows.map { ($0.app.id, $0.processorTime) }) { first, _ in first }
        let elapsed = time - before.time
        guard elapsed > 0 else { return }
        for index in rows.indices {
            guard let now = rows[index].processorTime, let then = times[rows[index].app.id] ?? nil, now >= then
            else { continue }
            rows[index].load = (now - then) * 10_000 / elapsed
        }
    }
}

extension State {
    /// What is in front comes first, what sleeps last.
    fileprivate var rank: Int {
        switch self {
        case .active: 0
        case .inactive: 1
        case .background: 2
        case .terminating: 3
        case .suspended: 4
        case .notRunning: 5
        }
    }
}

extension Presentation {
    /// The rows as a table: states, what the trees use, what holds each, and how long that lasts at most.
    ///
    /// - Parameters:
    ///   - rows: Which of the rows.
    ///   - selected: The row that keys act upon; nil where there are no keys.
    func top(_ sample: TopSample, rows: Range<Int>, selected: Int?) -> String {
        var table = Table(
            [
                (" ", .leading), ("ID", .leading), ("STATE", .leading), ("SINCE", .trailing), ("CPU", .trailing),
                ("MEMORY", .trailing), ("LEFT", .trailing), ("HELD BY, AND WHAT COMES NEXT", .leading),
            ], style: style)
        for index in rows.clamped(to: sample.rows.indices) {
            let row = sample.rows[index]
            let app = row.app
            let deadline = (row.obstacles.compactMap(\.until) + row.prospects.map(\.time)).min()
            table.add([
                Table.Cell(index == selected ? ">" : " "), Table.Cell(app.id),
                Table.Cell(Self.state(app)) { style.state(app.state, $0) }, Table.Cell(Instants.age(now &- app.since)),
                Table.Cell(row.load.map(Self.percent) ?? "-"), Table.Cell(row.memory.map(Text.size) ?? "-"),
                Table.Cell(deadline.map { Instants.age($0 &- now) } ?? "-"), Table.Cell(notes(row)),
            ])
        }
        return table.text
    }

    private func notes(_ row: TopSample.Row) -> String {
        let held = row.obstacles.map { Self.short($0) }.joined(separator: ", ")
        let next = row.prospects.first.map { Self.short($0) }
        return [held.isEmpty ? nil : held, next].compactMap(\.self).joined(separator: "; then ")
    }

    private static func short(_ obstacle: Obstacle) -> String {
        let names = obstacle.names.joined(separator: " ")
        switch obstacle.kind {
        case .answer, .task, .activity, .interruption, .work: return "\(obstacle.kind.rawValue) \(names)"
        case .place: return "waits for \(names)"
        case .backgroundTime: return "time in the background"
        case .manifest: return "suspend = \"never\""
        case .request: return "resumed by somebody"
        case .visible: return "on the screen"
        case .playing: return "plays"
        case .stoppedByOther: return "stopped by somebody else"
        case .givenUp: return "given up"
        case .concealment: return names
        case .start, .stop, .resume, .end, .launch, .channel, .scenes, .restart: return obstacle.kind.rawValue
        }
    }

    private static func short(_ prospect: Prospect) -> String {
        switch prospect.kind {
        case .transition: prospect.to?.rawValue ?? "?"
        case .callback: "told \(prospect.reason ?? "")"
        case .callbackOverdue: "no answer to \(prospect.reason ?? "")"
        case .tasksExpire: "tasks expire"
        case .terminate: "SIGTERM"
        case .kill: "SIGKILL"
        }
    }

    /// Hundredths of a percent as a percentage: `12.3 %`.
    static func percent(_ hundredths: Int64) -> String { "\(hundredths / 100).\(hundredths % 100 / 10) %" }

    /// A line cut off at a width, with escape sequences, which take no room, left whole.
    static func cut(_ line: Substring, to width: Int) -> String {
        var result = ""
        var used = 0
        var isEscaped = false
        for character in line {
            if character == "\u{1b}" { isEscaped = true }
            if isEscaped {
                result.append(character)
                if character == "m" { isEscaped = false }
            } else if used < width {
                result.append(character)
                used += 1
            }
        }
        return result
    }
}
