import LifecycleCore

/// How the apps ended that are to find again what they were doing: kept until they have ended otherwise, beyond the end
/// of the daemon and of the machine's run.
final class LastExits {
    private let records: AppRecords
    /// When apps ended that did so before the clock of the core began, in microseconds since the epoch.
    private var times: [AppID: Int64] = [:]
    /// The apps of which something is kept, as far as that has been looked at.
    private var kept: Set<AppID> = []
    private var recalled: Set<AppID> = []

    init(records: AppRecords) {
        self.records = records
    }

    /// How the app ended the last time, if that is remembered. Its instant means nothing; see ``time(of:)``.
    func recall(_ id: AppID) -> Exit? {
        guard recalled.insert(id).inserted, let record = records.read(id).first,
            let exit = record["exit"].flatMap({ Exit(text: $0) }), exit.reason.callsForRestoration,
            let time = record["time"].flatMap({ Int64($0) })
        else { return nil }
        kept.insert(id)
        times[id] = time
        return exit.before
    }

    /// When the app ended, if that was before the core's clock began, in microseconds since the epoch.
    func time(of exit: Exit, _ id: AppID) -> Int64? { exit.isBefore ? times[id] : nil }

    /// Takes note of how an app has ended.
    ///
    /// - Parameter time: When, in microseconds since the epoch.
    func note(_ exit: Exit, of id: AppID, at time: Int64) {
        recalled.insert(id)
        times[id] = nil
        if exit.reason.callsForRestoration {
            kept.insert(id)
            var record = SavedRecord()
            record.add("exit", exit.text)
            record.add("time", String(time))
            records.write([record], of: id)
        } else if kept.remove(id) != nil {
            records.remove(id)
        }
    }

    /// Forgets an app that nobody describes any more.
    func forget(_ id: AppID) {
        recalled.remove(id)
        times[id] = nil
        if kept.remove(id) != nil { records.remove(id) }
    }
}

extension Exit {
    /// The exit without its instant, which another clock has counted.
    fileprivate var before: Exit {
        Exit(state: state, reason: reason, status: status, instant: Instant(microseconds: 0))
    }

    fileprivate var isBefore: Bool { instant.microseconds == 0 }
}
