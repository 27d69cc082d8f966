/// Messages that wait for the peer to read them, in order.
struct OutputQueue {
    private var messages: [[UInt8]] = []
    /// The message being sent; those before it are sent.
    private var first = 0
    /// How much of it the kernel has taken.
    private var sent = 0
    /// How many bytes wait.
    private(set) var byteCount = 0

    private static let compactionThreshold = 64

    /// What to send next; empty when nothing waits.
    var pending: ArraySlice<UInt8> {
        first < messages.count ? messages[first][sent...] : []
    }

    mutating func append(_ message: [UInt8]) {
        messages.append(message)
        byteCount += message.count
    }

    /// Takes note that the kernel took the first bytes of ``pending``.
    mutating func consume(_ count: Int) {
        precondition(count >= 0 && count <= pending.count, "more was sent than was waiting")
        sent += count
        byteCount -= count
        guard first < messages.count, sent == messages[first].count else { return }
        messages[first] = []
        first += 1
        sent = 0
        if first == messages.count || first >= Self.compactionThreshold {
            messages.removeFirst(first)
            first = 0
        }
    }

    /// Drops every message of which nothing was sent. A message that was begun must end, or the peer reads garbage.
    mutating func dropUnbegun() {
        let kept = sent > 0 ? first + 1 : first
        for message in messages[kept...] { byteCount -= message.count }
        messages.removeSubrange(kept...)
    }
}
