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
