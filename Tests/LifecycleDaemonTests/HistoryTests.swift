import Testing

@testable import LifecycleCore
@testable import LifecycleDaemon

@Suite struct HistoryTests {
    static let clock = AppID("clock")
    static let mail = AppID("mail")

    func step(_ app: AppID, _ number: Int, to state: AppState = .active, _ reason: Reason = .focus) -> Transition {
        Transition(
            app: app, from: .inactive, to: state, reason: reason, instant: Instant(microseconds: UInt64(number)),
            since: Instant(microseconds: 0), answerTime: number % 2 == 0 ? .microseconds(number) : nil)
    }

    @Test func oldestEventIsForgottenWhenTheLogIsFull() {
        let history = History()
        #expect(history.events.start == nil && history.events.last(9) { _ in true }.isEmpty)
        for number in 0..<EventLog.limit + 10 {
            history.append(step(number % 3 == 0 ? Self.mail : Self.clock, number), pid: 7, member: nil)
        }
        let all = history.events.last(.max) { _ in true }
        #expect(all.map { Int($0.instant.microseconds) } == Array(10..<EventLog.limit + 10))
        #expect(history.events.start == Instant(microseconds: 10))
        #expect(history.events.last(2) { _ in true }.map { Int($0.instant.microseconds) } == [1032, 1033])
        #expect(
            history.events.last(2) { $0.app == Self.mail }.map { Int($0.instant.microseconds) } == [1029, 1032])
        #expect(all.last?.answerTime == nil && all.dropLast().last?.answerTime == .microseconds(1032))
        #expect(all.last?.stateTime == .microseconds(1033) && all.allSatisfy { $0.pid == 7 && $0.kind == .transition })
    }

    @Test func transitionsAndEndsAreCounted() {
        let history = History()
        history.append(step(Self.clock, 1, to: .suspended, .idle), pid: nil, member: nil)
        history.append(step(Self.clock, 2, to: .notRunning, .reclaimed), pid: nil, member: nil)
        history.append(step(Self.mail, 3, to: .notRunning, .reclaimed), pid: nil, member: nil)
        #expect(history.counts.ends == [.reclaimed: 2])
        #expect(history.counts.arrivals == [.notRunning: 2, .suspended: 1])
    }

    @Test func decisionsAreRecordedToo() {
        let history = History()
        let now = Instant(microseconds: 5)
        let exit = ExitRecord(state: .active, reason: .crash, status: .signal(11), instant: now)
        history.append(.answerOverdue(Self.clock, .openURL), pid: 1, member: nil, at: now)
        history.append(.terminationOverdue(Self.clock), pid: 1, member: nil, at: now)
        history.append(.exited(Self.clock, exit), pid: 1, member: nil, at: now)
        history.append(.answered(Self.clock, .openURL, .zero), pid: 1, member: nil, at: now)
        let events = history.events.last(9) { $0.app == Self.clock }
        #expect(events.map(\.kind) == [.callbackOverdue, .killed, .signal])
        #expect(events.map(\.reason) == [.none, .kill, .crash])
        #expect(events.map(\.callback) == [.openURL, nil, nil])
        #expect(events[2].detail == 11)
        #expect(history.counts.unanswered == 1 && history.counts.killedAfterTimeout == 1)
    }

    @Test func memberSeesWhatHappenedWhileTheIdWasThatOfOwnApp() {
        let history = History()
        for (number, member) in [(1, 1000), (2, nil), (3, 1001)] as [(Int, UInt32?)] {
            history.append(step(Self.clock, number), pid: nil, member: member)
        }
        let seen = { (scope: ClientScope) in
            history.events.last(9) { $0.isVisible(to: scope) }.map { Int($0.instant.microseconds) }
        }
        #expect(seen(.everything) == [1, 2, 3] && seen(.member(1000)) == [1] && seen(.member(1001)) == [3])
        #expect(seen(.app(Self.clock)) == [1, 2, 3] && seen(.app(Self.mail)).isEmpty && seen(.nothing).isEmpty)
    }
}
