import LifecycleCore
import Processes
import Systemd

/// What is said of memory.
extension LifecycleLog {
    func reclaimEntry(_ app: AppID, _ account: Reclaimed, pid: ProcessID?) -> LogEntry {
        let order = account.order.map(\.name).joined(separator: " ")
        var fields = appFields(app, pid)
        fields += [
            ("LIFED_REASON", Reason.reclaimed.rawValue), ("LIFED_PRESSURE", account.cause.words),
            ("LIFED_ORDER", order),
        ]
        if let freed = account.freed { fields.append(("LIFED_FREED_BYTES", String(freed))) }
        let amount = account.freed.map { ", which gave back \(Self.size($0))" } ?? ""
        return LogEntry(
            id: .reclaimed, priority: .notice,
            message: "\(app) was ended for its memory\(amount): \(account.cause.words); "
                + "first of \(account.candidates) that could be ended: \(order)",
            fields: fields)
    }

    /// Memory of a suspended app was given back.
    func write(_ outcome: MemoryReclaim.Outcome, by method: MemoryReclaim.Method, of app: AppID) {
        let amount = UInt64(outcome.reclaimed)
        var fields = appFields(app, nil)
        fields += [("LIFED_FREED_BYTES", String(amount)), ("LIFED_METHOD", method.rawValue)]
        let end = outcome.error.map { ", and no more: \($0)" } ?? ""
        log.write(
            LogEntry(
                id: .memoryGivenBack,
                message: "\(app) gave back \(Self.size(amount)) of \(Self.size(UInt64(outcome.before))) while suspended"
                    + " (\(method.rawValue))\(end)",
                fields: fields))
    }

    /// In the largest unit that leaves a whole number above zero.
    static func size(_ bytes: UInt64) -> String {
        switch bytes {
        case ..<(1 << 10): "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }
}

extension Reclaimed.Cause {
    /// One clause.
    var words: String {
        switch self {
        case .pressure(let words): words
        case .simulation: "somebody simulated that memory is short"
        case .suspendedLimit(let limit):
            "more than \(limit) app\(limit == 1 ? "" : "s") were suspended (suspendedLimit)"
        }
    }
}
