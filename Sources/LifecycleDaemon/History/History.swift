import LifecycleCore
import Processes

/// The last events since the daemon was started, and counts of all of them. Every transition goes through it, so it makes
/// no text.
struct History {
    private(set) var events = EventRing()
    private(set) var counts = Counts()
    /// The instants at which ids became those of another user's app.
    private var newOwners: [AppID: Instant] = [:]

    struct Counts {
        /// Transitions by the state reached, in the order of ``AppState/allCases``.
        fileprivate(set) var arrivals = [UInt64](repeating: 0, count: AppState.allCases.count)
        fileprivate(set) var ends: [Reason: UInt64] = [:]
        fileprivate(set) var unanswered: UInt64 = 0
        fileprivate(set) var killedAfterTimeout: UInt64 = 0
        fileprivate(set) var failedLaunches: UInt64 = 0
    }

    /// Notes that an id may have been that of another user's app before.
    mutating func noteNewOwner(of id: AppID, at now: Instant) {
        if let start = events.start { newOwners = newOwners.filter { $0.value >= start } }
        newOwners[id] = now
    }

    /// Returns whether an event of an id at an instant is of the app that has the id now.
    func isOfOwner(_ id: AppID, _ instant: Instant) -> Bool { newOwners[id].map { instant >= $0 } ?? true }

    mutating func append(_ step: Transition, pid: ProcessID?) {
        events.append(
            EventRing.Entry(
                app: step.app, reason: step.reason, instant: step.instant, stateTime: step.stateTime.wholeMicroseconds,
                answerTime: step.answerTime.map { UInt32(clamping: $0.wholeMicroseconds) } ?? .max,
                pid: pid ?? 0, kind: .transition, from: step.from, to: step.to))
        counts.arrivals[step.to.index] += 1
        if step.to == .notRunning { counts.ends[step.reason, default: 0] += 1 }
    }

    mutating func append(_ decision: Decision, pid: ProcessID?, at now: @autoclosure () -> Instant) {
        switch decision {
        case .answerOverdue(let app, let callback):
            counts.unanswered += 1
            events.append(
                .init(
                    app: app, reason: .none, callback: callback, instant: now(), pid: pid ?? 0, kind: .callbackOverdue))
        case .terminationOverdue(let app):
            counts.killedAfterTimeout += 1
            events.append(.init(app: app, reason: .kill, instant: now(), pid: pid ?? 0, kind: .killed))
        case .exited(let app, let exit):
            let (kind, detail) = exit.status.entry
            events.append(
                .init(
                    app: app, reason: exit.reason, instant: exit.instant, detail: detail, pid: pid ?? 0, kind: kind,
                    from: exit.state, restoreFailed: exit.restoreFailure != nil))
        case .launchFailed(let app, _):
            counts.failedLaunches += 1
            events.append(.init(app: app, reason: .launchFailed, instant: now(), pid: 0, kind: .launchFailed))
        case .stopRenewed, .stopIncomplete, .stoppedByOther, .signalPending, .answered, .tasksOverdue, .reclaimed,
            .scenesReclaimed, .sceneRefused, .interruptionBegan, .interruptionEnded, .machine, .eventEnded,
            .restartDelayed,
            .restartLimitReached:
            break
        }
    }
}

extension AppState {
    fileprivate var index: Int {
        switch self {
        case .notRunning: 0
        case .inactive: 1
        case .active: 2
        case .background: 3
        case .suspended: 4
        case .terminating: 5
        }
    }
}

extension LifecycleCore.ExitStatus {
    fileprivate var entry: (EventRing.Kind, Int32) {
        switch self {
        case .code(let code): (.code, code)
        case .signal(let number): (.signal, number)
        case .unknown: (.ended, 0)
        }
    }
}

/// The last events of all apps, for clients of a daemon without a journal: at most ``byteLimit`` bytes, and ``countLimit`` events.
///
/// The events are bytes in one buffer, in turn: a header of fixed size, and the id of the app, which may be forgotten by now. An
/// append makes no text, and allocates nothing once the buffer has its full size.
struct EventRing {
    enum Kind: UInt8 { case transition, callbackOverdue, killed, code, signal, ended, launchFailed }

    struct Entry {
        let app: AppID
        let reason: Reason
        var callback: Callback?
        let instant: Instant
        /// The time in the state that the app left, in microseconds; the maximum if it is unknown.
        var stateTime = UInt64.max
        /// The time until the answer to a callback, in microseconds; the maximum for no answer.
        var answerTime = UInt32.max
        /// An exit code or a signal.
        var detail: Int32 = 0
        let pid: ProcessID
        let kind: Kind
        var from = AppState.notRunning
        var to = AppState.notRunning
        var restoreFailed = false
    }

    /// The part of an entry with a fixed size.
    private struct Header: BitwiseCopyable {
        /// The bytes of the entry, the id and the padding included.
        let size: UInt16
        let idSize: UInt16
        let pid: ProcessID
        let instant: UInt64
        let stateTime: UInt64
        let answerTime: UInt32
        let detail: Int32
        let kind: UInt8
        let reason: UInt8
        let callback: UInt8
        let from: UInt8
        let to: UInt8
        let restoreFailed: Bool
    }

    static let byteLimit = 1 << 16
    static let countLimit = 1024
    /// The longest id, far longer than a valid one.
    private static let idLimit = 1024
    private static let firstSize = 1 << 12

    private var bytes: [UInt8] = []
    /// The position of the oldest entry, and that of the next one.
    private var head = 0
    private var tail = 0
    /// The end of the last entry before the next one is at the begin of the buffer.
    private var wrap = 0
    private(set) var count = 0
    /// A Boolean value that indicates whether an entry was replaced.
    private var hasReplaced = false

    /// The bytes that the entries and the room for others take.
    var size: Int { bytes.count }

    /// The bytes of an entry without the id of its app.
    static var headerSize: Int { MemoryLayout<Header>.size }

    // MARK: Appending

    mutating func append(_ entry: Entry) {
        let name = entry.app.name.utf8
        let id = name.span.extracting(first: Self.idLimit)
        let size = (MemoryLayout<Header>.size + id.count + 7) & ~7
        if count >= Self.countLimit { removeOldest() }
        makeRoom(size)
        let header = Header(
            size: UInt16(size), idSize: UInt16(id.count), pid: entry.pid, instant: entry.instant.microseconds,
            stateTime: entry.stateTime, answerTime: entry.answerTime, detail: entry.detail,
            kind: entry.kind.rawValue, reason: Self.byte(entry.reason), callback: Self.byte(entry.callback),
            from: Self.byte(entry.from), to: Self.byte(entry.to), restoreFailed: entry.restoreFailed)
        let start = tail
        unsafe bytes.withUnsafeMutableBytes { unsafe $0.storeBytes(of: header, toByteOffset: start, as: Header.self) }
        let position = start + MemoryLayout<Header>.size
        for index in id.indices { bytes[position + index] = id[index] }
        tail = start + size
        count += 1
    }

    /// Sets the tail to a position behind which there is room for an entry.
    private mutating func makeRoom(_ size: Int) {
        while true {
            let isWrapped = count > 0 && tail <= head
            if !isWrapped {
                if tail + size <= bytes.count { return }
                if grow(size) { continue }
                // The entries from the head to the tail stay, and the next ones follow at the begin.
                (wrap, tail) = (tail, 0)
                if count == 0 { head = 0 }
                continue
            }
            if tail + size <= head { return }
            removeOldest()
        }
    }

    /// - Returns: Whether the buffer was not of full size.
    private mutating func grow(_ size: Int) -> Bool {
        guard bytes.count < Self.byteLimit else { return false }
        let wanted = max(2 * bytes.count, Self.firstSize, bytes.count + size)
        var larger: [UInt8] = []
        larger.reserveCapacity(min(wanted, Self.byteLimit))
        larger += bytes
        larger += repeatElement(0, count: min(wanted, Self.byteLimit) - bytes.count)
        bytes = larger
        return true
    }

    private mutating func removeOldest() {
        guard count > 0 else { return }
        hasReplaced = true
        count -= 1
        head = next(after: head)
        if count == 0 { (head, tail) = (0, 0) }
    }

    // MARK: Reading

    /// The instant of the oldest entry; nil if no entry has been replaced.
    var start: Instant? { hasReplaced && count > 0 ? Instant(microseconds: header(at: head).instant) : nil }

    func last(_ limit: Int, where isWanted: (AppID, Instant) -> Bool) -> [Entry] {
        var positions: [Int] = []
        positions.reserveCapacity(count)
        var position = head
        for _ in 0..<count {
            positions.append(position)
            position = next(after: position)
        }
        var found: [Entry] = []
        for position in positions.reversed() {
            if found.count >= limit { break }
            let entry = entry(at: position)
            if isWanted(entry.app, entry.instant) { found.append(entry) }
        }
        return found.reversed()
    }

    /// Returns a value that has one byte, such as a case without payload, as this byte. It stays in this process.
    private static func byte<Value>(_ value: Value) -> UInt8 { unsafe unsafeBitCast(value, to: UInt8.self) }

    /// Returns the value that was made this byte.
    private static func value<Value>(_ byte: UInt8) -> Value { unsafe unsafeBitCast(byte, to: Value.self) }

    private func header(at position: Int) -> Header {
        unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: position, as: Header.self) }
    }

    private func next(after position: Int) -> Int {
        let end = position + Int(header(at: position).size)
        return end == wrap && tail <= position ? 0 : end
    }

    private func entry(at position: Int) -> Entry {
        let header = header(at: position)
        let start = position + MemoryLayout<Header>.size
        return Entry(
            app: AppID(String(decoding: bytes[start..<start + Int(header.idSize)], as: UTF8.self)),
            reason: Self.value(header.reason), callback: Self.value(header.callback),
            instant: Instant(microseconds: header.instant), stateTime: header.stateTime,
            answerTime: header.answerTime, detail: header.detail, pid: header.pid,
            kind: Kind(rawValue: header.kind) ?? .ended, from: Self.value(header.from), to: Self.value(header.to),
            restoreFailed: header.restoreFailed)
    }
}
