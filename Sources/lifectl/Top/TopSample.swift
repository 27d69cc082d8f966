import ControlAPI
import Glibc
import LifecycleTypes

extension TopSample {
    /// Creates a sample of the apps of a daemon.
    ///
    /// - Parameters:
    ///   - session: The connection to the daemon.
    ///   - visible: The rows with details, each of which costs a call.
    ///   - before: The previous sample, since which the loads are computed; nil for the first one.
    /// - Throws: ``Failure`` if a call fails.
    init(of session: DaemonConnection, visible: Range<Int>, before: TopSample?) throws(Failure) {
        let apps = try session.call(.list).apps.filter { $0.state != .notRunning || $0.target != .notRunning }
            .sorted { ($0.state.rank, $0.id) < ($1.state.rank, $1.id) }
        self.init(timeUSec: Instants.now, rows: [])
        for (index, app) in apps.enumerated() {
            var row = TopRow(app: app, conditions: [], prospects: [])
            if visible.contains(index), let explanation = try Self.explanation(of: app.id, session) {
                row.cpuTimeUSec = explanation.details.processes.reduce(0) {
                    min($0 + min(max(0, $1.cpuTimeUSec), Self.longestTime), Self.longestTime)
                }
                row.memoryBytes = explanation.details.processes.reduce(0) { $0 &+ Self.residentMemory(of: $1.pid) }
                row.conditions = explanation.conditions
                row.prospects = explanation.prospects
            }
            rows.append(row)
        }
        if let before { computeLoads(since: before) }
    }

    /// The longest processor time, 14 years, whose load can be computed.
    private static let longestTime = Int64.max / 20_000

    /// Returns the explanation of an app; nil if the app has gone.
    private static func explanation(of id: String, _ session: DaemonConnection) throws(Failure) -> APIExplanation? {
        do throws(Failure) {
            return try session.call(.explain, AppParameters(id: id)).explanation
        } catch {
            guard error.status == .noSuchApp else { throw error }
            return nil
        }
    }

    /// Returns the resident memory of a process (proc_pid_statm(5)); 0 for a process that has gone or is on another machine.
    private static func residentMemory(of pid: Int64) -> Int64 {
        let fields = OutputFile.read("/proc/\(pid)/statm")?.split(separator: " ") ?? []
        guard fields.count > 1, let pages = Int64(fields[1]) else { return 0 }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Computes the loads. If a process of an app has ended with its processor time, the load is not known.
    mutating func computeLoads(since before: TopSample) {
        let times: [String: Int64] = before.rows.reduce(into: [:]) { $0[$1.app.id] = $1.cpuTimeUSec }
        let elapsed = timeUSec - before.timeUSec
        guard elapsed > 0 else { return }
        for index in rows.indices {
            guard let now = rows[index].cpuTimeUSec, let then = times[rows[index].app.id], now >= then
            else { continue }
            rows[index].load = (now - then) * 10_000 / elapsed
        }
    }
}

extension AppState {
    /// The position in the list: the foreground first.
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

extension TextPresentation {
    /// Returns the rows as a table.
    ///
    /// - Parameter selected: The row that keys act upon, if any.
    func top(_ sample: TopSample, rows: Range<Int>, selected: Int?) -> String {
        var table = Table(
            [
                " ", "ID", "STATE", .trailing("SINCE"), .trailing("CPU"), .trailing("MEMORY"), .trailing("LEFT"),
                "KEPT THERE BY, AND NEXT",
            ], style: style)
        for index in rows.clamped(to: sample.rows.indices) {
            let row = sample.rows[index]
            let app = row.app
            let deadline = (row.conditions.compactMap { $0.untilUSec } + row.prospects.map { $0.timeUSec }).min()
            table.add(
                .text(index == selected ? ">" : " "), .text(app.id), stateCell(of: app), ageCell(since: app.sinceUSec),
                .text(row.load.map(Self.percent) ?? "-"), .text(row.memoryBytes.map(Text.size) ?? "-"),
                .text(deadline.map { Instants.age($0 &- now) } ?? "-"), .text(notes(row)))
        }
        return table.text
    }

    private func notes(_ row: TopRow) -> String {
        let causes = row.conditions.map { Self.short($0) }.joined(separator: ", ")
        let next = row.prospects.first.map { Self.short($0) }
        return [causes.isEmpty ? nil : causes, next].compactMap { $0 }.joined(separator: "; then ")
    }

    private static func short(_ condition: APIStateCondition) -> String {
        let names = condition.names.joined(separator: " ")
        switch condition.kind {
        case .callback, .task, .mode, .interruption, .work: return "\(condition.kind.rawValue) \(names)"
        case .activationSlot: return "waits for \(names)"
        case .backgroundTime: return "background time"
        case .suspendPolicy: return "suspend = \"never\""
        case .resumeRequest: return "resumed by request"
        case .visible: return "visible"
        case .pointed: return "pointed at"
        case .playing: return "plays sound"
        case .called: return "called on the bus"
        case .awaited: return "lock awaited"
        case .unread: return "reads events"
        case .relaunched: return "launched again"
        case .unfollowed: return "no lifed-desktop"
        case .stoppedByOther: return "stopped by another program"
        case .restartLimit: return "restart limit reached"
        case .foregroundBlocked: return names
        case .signal: return "a signal from another program"
        case .start, .stop, .resume, .end, .launch, .connection, .scenes, .restart: return condition.kind.rawValue
        }
    }

    private static func short(_ prospect: APIProspect) -> String {
        switch prospect.kind {
        case .transition: prospect.to?.rawValue ?? "?"
        case .callback: "told \(prospect.callback ?? "")"
        case .callbackTimeout: "no answer to \(prospect.callback ?? "")"
        case .taskExpiration: "tasks expire"
        case .terminate: "SIGTERM"
        case .kill: "SIGKILL"
        }
    }

    /// Returns hundredths of a percent as a percentage: `12.3 %`.
    static func percent(_ hundredths: Int64) -> String { "\(hundredths / 100).\(hundredths % 100 / 10) %" }

    /// Returns the start of a line up to a width. Escape sequences have no width and stay whole.
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
