/// Cuts a stream of bytes into lines.
///
/// Holds at most one unfinished line and the finished lines that were not taken yet, and so never more than a line more
/// than what was appended since lines were last taken. A line that is too long is not kept; it is reported once, in its
/// place, as soon as it is known to be too long, and left out up to its line feed.
public struct LineBuffer: Sendable {
    /// What was cut off the stream.
    public enum Entry: Equatable, Sendable {
        /// A line without its line feed.
        case line(ArraySlice<UInt8>)
        /// Here was a line of more than `AppProtocol.maximumLineLength` bytes.
        case tooLongLine
    }

    private var entries: [Entry] = []
    private var nextEntry = 0
    /// The beginning of a line. Of one that is too long it is what was kept when that was found out, and nothing is added.
    private var unfinished: [UInt8] = []

    /// A buffer that nothing was appended to.
    public init() {}

    /// A buffer that goes on where another was whose `remainder` this is. Bytes of any kind and number do no harm.
    public init(remainder: [UInt8]) {
        unfinished = Array(remainder.prefix(AppProtocol.maximumLineLength))
    }

    /// The incomplete line at the end of the stream. Has `AppProtocol.maximumLineLength` bytes when the line is too long,
    /// which was reported then.
    public var remainder: [UInt8] { unfinished }

    // A line of the greatest length has one byte more: its line feed.
    private var isSkipping: Bool { unfinished.count == AppProtocol.maximumLineLength }

    /// Whether `next()` has something to give.
    public var isEmpty: Bool { nextEntry == entries.count }

    /// Takes bytes off the stream, in pieces of any size.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finishLine()
            } else if !isSkipping {
                extendLine(by: byte)
            }
        }
    }

    /// The next entry, or nil when no further line has arrived in full.
    public mutating func next() -> Entry? {
        guard nextEntry < entries.count else {
            entries.removeAll(keepingCapacity: false)
            nextEntry = 0
            return nil
        }
        defer { nextEntry += 1 }
        return entries[nextEntry]
    }

    private mutating func finishLine() {
        if !isSkipping { entries.append(.line(unfinished[...])) }
        unfinished = []
    }

    private mutating func extendLine(by byte: UInt8) {
        unfinished.append(byte)
        if isSkipping { entries.append(.tooLongLine) }
    }
}
