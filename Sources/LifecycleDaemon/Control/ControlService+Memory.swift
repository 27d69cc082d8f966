import ControlAPI
import LifecycleCore
import Varlink

extension Request {
    /// What a call of SimulateMemoryPressure asks for.
    init(_ parameters: MemoryPressureParameters) {
        let level: LifecycleCore.MemoryLevel =
            switch parameters.level {
            case .normal: .normal
            case .warning: .warning
            case .critical: .critical
            }
        self = .memoryPressure(level, all: parameters.all ?? false)
    }
}

extension ControlAPI.Reclaim {
    init(_ account: Reclaimed) {
        self.init(
            cause: account.cause.words, order: account.order.map(\.name), candidates: Int64(account.candidates),
            freed: account.freed.map { Int64(clamping: $0) })
    }
}
