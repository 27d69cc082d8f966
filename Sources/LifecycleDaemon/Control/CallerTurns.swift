import ControlAPI
import LifecycleCore
import Varlink

/// Calls that wait, and the turns of the callers: one call of each after the other, however many connections a caller has.
struct CallerTurns {
    private struct Caller: Hashable {
        let user: UInt32
        /// The app of which the caller is a process; nil for another program.
        let app: AppID?
    }

    /// The callers that have calls, the one whose turn is next first.
    private var callers: [Caller] = []
    private var calls: [Caller: [ClientCall]] = [:]

    var isEmpty: Bool { callers.isEmpty }

    mutating func append(_ call: ClientCall) {
        let caller = Caller(user: call.connection.peer.user, app: call.connection.client.app)
        if calls[caller] == nil { callers.append(caller) }
        calls[caller, default: []].append(call)
    }

    /// Takes the first call of the caller whose turn it is, which then comes after the others.
    mutating func takeNext() -> ClientCall? {
        guard let caller = callers.first, let call = calls[caller]?.removeFirst() else { return nil }
        callers.removeFirst()
        if calls[caller]?.isEmpty == true { calls[caller] = nil } else { callers.append(caller) }
        return call
    }

    /// The connections of the caller that has the most calls, the last to call last.
    var connectionsOfLargest: [ControlConnection] {
        calls.values.max { $0.count < $1.count }?.map { $0.connection } ?? []
    }

    /// Drops the call of a connection that has closed.
    mutating func removeAll(of connection: ControlConnection) {
        for caller in callers { calls[caller]?.removeAll { $0.connection === connection } }
        callers.removeAll { calls[$0]?.isEmpty == true }
        calls = calls.filter { !$0.value.isEmpty }
    }
}

extension ClientCall {
    /// True for a call that looks at all apps, at all processes of an app, or at all desktop entries.
    var takesLong: Bool { method?.takesLong ?? true }
}

extension LifedMethod {
    fileprivate var takesLong: Bool {
        switch self {
        case .list, .monitor, .describe, .explain, .listAvailable, .history, .open, .reload: true
        case .getStatus, .findApp, .background, .suspend, .terminate, .kill, .launch, .restart, .continueActivity,
            .focus, .home, .beginInterruption, .endInterruption, .openScene, .focusScene, .backgroundScene,
            .closeScene, .resume, .setInUse, .wake, .run, .adopt, .release, .monitorAdoptions,
            .simulateMemoryPressure, .simulate, .reexecute:
            false
        }
    }
}
