internal import AppChannel

/// The tasks and activities that an app has begun and not ended, and what the daemon said to them.
struct AppAssertions {
    enum Kind {
        case task
        case activity
    }

    private enum Standing {
        case asked
        /// Ended before the daemon answered. A refused assertion must not be ended, so the end waits for the answer.
        case askedAndEnded
        case granted
    }

    /// The progress of a task's expiration. Ends with the task, in the foreground and with the management by the daemon.
    private enum Expiration {
        case none
        /// The app is told. Another `expire-task` is another expiration: a use of the app has ended the first.
        case told
        /// The app is told. The next `expire-task` may be the repetition of the next daemon.
        case toldBeforeRestart
    }

    private struct Assertion {
        let id: AssertionID
        let kind: Kind
        let name: String
        var standing = Standing.asked
        var expiration = Expiration.none

        var begin: MessageFromApp {
            switch kind {
            case .task: .beginTask(id, name: name)
            case .activity: .beginActivity(id, mode: name)
            }
        }

        var end: MessageFromApp {
            switch kind {
            case .task: .endTask(id)
            case .activity: .endActivity(id)
            }
        }
    }

    /// More than the daemon lets an app have at a time, and so more than it can have granted and not heard the end of.
    private static let rememberedEnds = 64

    // An array: there are a handful, and Embedded Swift's dictionaries would need a source of randomness.
    private var assertions: [Assertion] = []
    private var ended: [Assertion] = []
    private var lastID: Int64 = 0

    /// The number of assertions.
    var count: Int { assertions.count }

    /// The messages for the next daemon, which may have lost the last messages. A repetition does no harm.
    var messagesToResume: [MessageFromApp] { assertions.map { $0.begin } + ended.map { $0.end } }

    /// Returns the message that asks for it.
    mutating func begin(_ kind: Kind, name: String) -> (AssertionID, MessageFromApp) {
        lastID += 1
        let assertion = Assertion(id: AssertionID(rawValue: lastID), kind: kind, name: name)
        assertions.append(assertion)
        return (assertion.id, assertion.begin)
    }

    /// Notes the end of the channel: the assertions that are held or requested are requested again.
    mutating func suspend() {
        for index in assertions.indices.reversed() {
            if case .askedAndEnded = assertions[index].standing {
                _ = remove(at: index)
            } else {
                assertions[index].standing = .asked
            }
        }
    }

    /// Ends an assertion while there is no channel; the daemon hears of it when there is one.
    mutating func endUnheard(_ id: AssertionID, _ kind: Kind) {
        guard let index = index(of: id), assertions[index].kind == kind else { return }
        _ = remove(at: index)
    }

    /// Returns the message that ends an assertion; nil while the daemon has not answered, or if there is no such
    /// assertion.
    mutating func end(_ id: AssertionID, _ kind: Kind) -> MessageFromApp? {
        guard let index = index(of: id), assertions[index].kind == kind else { return nil }
        switch assertions[index].standing {
        case .asked, .askedAndEnded:
            assertions[index].standing = .askedAndEnded
            return nil
        case .granted:
            return remove(at: index)
        }
    }

    /// Returns the message that ends an assertion once more; nil if it was not ended lately.
    func endAgain(_ id: AssertionID) -> MessageFromApp? {
        ended.last { $0.id == id }?.end
    }

    /// Notes that the daemon grants an assertion, and returns the message that ends it if the app has ended it
    /// meanwhile.
    mutating func grant(_ id: AssertionID) -> MessageFromApp? {
        guard let index = index(of: id) else { return nil }
        if case .askedAndEnded = assertions[index].standing { return remove(at: index) }
        assertions[index].standing = .granted
        return nil
    }

    /// Removes a refused assertion, and returns whether to tell the app, which has not ended it.
    mutating func refuse(_ id: AssertionID) -> Bool {
        guard let index = index(of: id) else { return false }
        let assertion = assertions.remove(at: index)
        if case .asked = assertion.standing { return true }
        return false
    }

    /// Notes the expiration of a task, and returns whether to tell the app: not of a repetition, nor of a task that it has ended.
    mutating func expire(_ id: AssertionID) -> Bool {
        guard hasTask(id), let index = index(of: id) else { return false }
        defer { assertions[index].expiration = .told }
        return assertions[index].expiration != .toldBeforeRestart
    }

    /// Notes that the time of the tasks has stopped, and begins anew in the background.
    mutating func endExpirations() {
        for index in assertions.indices { assertions[index].expiration = .none }
    }

    /// Notes that the next daemon may repeat the expirations.
    mutating func expectRepetitions() {
        for index in assertions.indices where assertions[index].expiration == .told {
            assertions[index].expiration = .toldBeforeRestart
        }
    }

    /// Returns whether the app has a task with this id that it has not ended.
    func hasTask(_ id: AssertionID) -> Bool {
        guard let index = index(of: id), assertions[index].kind == .task else { return false }
        if case .askedAndEnded = assertions[index].standing { return false }
        return true
    }

    private func index(of id: AssertionID) -> Int? {
        assertions.firstIndex { $0.id == id }
    }

    private mutating func remove(at index: Int) -> MessageFromApp {
        let assertion = assertions.remove(at: index)
        if ended.count == Self.rememberedEnds { ended.removeFirst() }
        ended.append(assertion)
        return assertion.end
    }
}
