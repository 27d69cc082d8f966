import LifecycleCore
import Processes

/// The last things that happened to the apps, for those who ask the daemon because there is no journal.
///
/// One ring for all apps together, of a fixed size: ``capacity`` entries of 64 bytes, 64 KiB, however many apps there are.
/// Taking note is a few words written, without text and without an allocation once it is full.
struct EventRing {
    /// What an entry says beside whom it is about.
    enum Kind: UInt8 { case transition, callbackOverdue, killed, code, signal, ended, launchFailed }

    struct Entry {
        let app: AppID
        let reason: Reason
        /// The callback that was not answered in time.
        var callback: Callback?
        let instant: Instant
        /// How long the app had been in the state that it left, in microseconds; the largest number where that is unknown.
        var stateTime = UInt64.max
        /// How long the answer took that was waited for, in microseconds; the largest number for none.
        var answerTime = UInt32.max
        /// An exit code or a signal.
        var detail: Int32 = 0
        let pid: ProcessID
        let kind: Kind
        var from = AppState.notRunning
        var to = AppState.notRunning
    }

    static let capacity = 1024

    private var entries: [Entry] = []
    /// Where the next entry goes once the ring is full, which is where the oldest is.
    private var next = 0

    init() { entries.reserveCapacity(Self.capacity) }

    mutating func append(_ entry: Entry) {
        if entries.count < Self.capacity {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % Self.capacity
        }
    }

    /// When the oldest entry was made, if others had to make room.
    var start: Instant? { entries.count < Self.capacity ? nil : entries[next].instant }

    /// The last entries, the oldest first.
    ///
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - isWanted: The condition for the app of an entry.
    func last(_ limit: Int, where isWanted: (AppID) -> Bool) -> [Entry] {
        let ordered = entries[next...] + entries[..<next]
        var found: [Entry] = []
        for entry in ordered.reversed() where isWanted(entry.app) {
            if found.count >= limit { break }
            found.append(entry)
        }
        return found.reversed()
    }
}
