import LifecycleCore

/// How far the conversation on an app's channel is.
struct ChannelState: Equatable {
    /// The version of the protocol that is spoken; nil before the app has said hello.
    var version: Int64?
    var mistakes = 0
    /// The number of the last callback that was written to the socket.
    var toldSequence: UInt64 = 0
}

extension ChannelState {
    var hasSaidHello: Bool { version != nil }

    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("version", version.map { String($0) })
        record.add("mistakes", mistakes > 0 ? String(mistakes) : nil)
        record.add("told", String(toldSequence))
        return record
    }

    init(_ record: SavedRecord) {
        version = record["version"].flatMap { Int64($0) }
        mistakes = record["mistakes"].flatMap { Int($0) }.map { min(max(0, $0), AppConnection.mistakeLimit) } ?? 0
        toldSequence = record["told"].flatMap { UInt64($0) } ?? 0
    }
}
