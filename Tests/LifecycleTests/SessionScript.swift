import AppChannel
import LifecycleClient
import LifecycleTypes

extension AppSession {
    mutating func hear(_ line: String, now: Int64 = 0) {
        receive(Array("\(line)\n".utf8), now: now)
    }

    /// What there was to send.
    mutating func takeOutput() -> String {
        defer { didSend(output.count) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Answers every callback there is; returns their verbs with the state meanwhile.
    mutating func run() -> [String] {
        var log: [String] = []
        while let event = next() {
            guard case .callback(let callback) = event else { continue }
            log.append("\(callback.kind.rawValue) \(state.rawValue)")
            answer(callback)
        }
        return log
    }
}
