import LifecycleCore
import Processes

/// The kind of a record in a slot.
nonisolated enum SlotKind: UInt8, Sendable {
    /// The slot may be used for any record.
    case free = 1
    /// The state of an app in the core.
    case app
    /// The state of the core besides the apps.
    case machine
    /// The transitions of one step.
    case transitions
    /// The number of the step up to which transitions are announced.
    case announced
    /// The resource values of an app, set and own.
    case resources = 7
    /// The progress of the conversation on the channel of an app.
    case channel
}

/// The layout of a file of slots.
///
/// A slot is as large as its record needs, in powers of two; with the common size no copy crosses a page. Each copy is one pwrite(2),
/// with a checksum, the number of its step, and the number of slots that the step changes.
nonisolated enum SlotFormat {
    /// The bytes before the first slot: a line of text, zeros, and the key of the checksums at the end.
    static let headerSize = 1024
    /// Checksum, step, changes of the step, length, kind, order, and zeros.
    static let frameHeaderSize = 32
    /// The size of a copy of the order 0, in bytes.
    static let copySize = 512
    /// The largest order.
    static let lastOrder: UInt8 = 20
    /// The end of the numbers of steps: no daemon lives to reach it, and there is always a next one.
    static let endOfSteps: UInt64 = 1 << 62

    static func slotSize(_ order: UInt8) -> Int { 2 * copySize << Int(order) }

    /// Returns the order of the slot that a frame of this size needs.
    static func order(for size: Int) -> UInt8 {
        var order: UInt8 = 0
        while copySize << Int(order) < size { order += 1 }
        return order
    }

    static func offset(of copy: Int, _ slot: Int, _ order: UInt8) -> Int { slot + copy * copySize << Int(order) }

    static func header(_ line: [UInt8], key: UInt64) -> [UInt8] {
        var header = SlotWriter(capacity: headerSize)
        header.append(line)
        header.pad(adding: headerSize - (line.count + 7) & ~7)
        header.put(key, at: headerSize - 8)
        return header.bytes
    }

    struct FrameHeader {
        let step: UInt64
        let changes: UInt32
        let length: UInt32
        let kind: UInt8
        let order: UInt8

        var sizes: UInt64 { UInt64(length) << 32 | UInt64(changes) }
        var form: UInt64 { UInt64(order) << 8 | UInt64(kind) }

        /// Returns the checksum of a copy, which is valid in its place and in its file only.
        func checksum(_ digest: UInt64, key: UInt64, offset: Int, copy: Int) -> UInt64 {
            var sum = SlotFormat.mix(key, UInt64(truncatingIfNeeded: offset) << 1 | UInt64(copy))
            sum = SlotFormat.mix(sum, step)
            sum = SlotFormat.mix(sum, sizes)
            sum = SlotFormat.mix(sum, form)
            sum = SlotFormat.mix(sum, digest)
            return sum == 0 ? 1 : sum
        }
    }

    /// Returns the digest of bytes whose number is a multiple of eight.
    static func digest(of bytes: RawSpan, _ seed: UInt64) -> UInt64 {
        precondition(bytes.byteCount % 8 == 0, "the bytes are not whole numbers")
        var digest = mix(0, seed)
        // Each number is checked to be within the bytes otherwise.
        unsafe bytes.withUnsafeBytes { bytes in
            guard var next = bytes.baseAddress else { return }
            let end = unsafe next + bytes.count
            while unsafe next < end {
                digest = mix(digest, UInt64(littleEndian: unsafe next.loadUnaligned(as: UInt64.self)))
                unsafe next += 8
            }
        }
        return digest
    }

    /// Returns an end of the bytes beyond which all are zero: space that is reserved.
    static func endOfWritten(_ bytes: [UInt8]) -> Int {
        let raw = unsafe bytes.span.bytes
        guard bytes.count % 8 == 0 else { return bytes.count }
        var end = bytes.count
        while end > 0, number(raw, end - 8) == 0 { end -= 8 }
        return end
    }

    static func number(_ raw: RawSpan, _ position: Int) -> UInt64 {
        UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    private static func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
        let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
        return (product ^ product >> 29) &* 0xBF58_476D_1CE4_E5B9 &+ 1
    }
}

/// The records of a file of slots, as a daemon has left them.
nonisolated struct SlotContents {
    struct Record {
        let kind: SlotKind
        /// The step that wrote the record.
        let step: UInt64
        let bytes: ArraySlice<UInt8>
        let offset: Int
        let order: UInt8
        let copy: Int
        let digest: UInt64

        /// The record of the slot without this copy.
        fileprivate var freed: Record {
            Record(kind: .free, step: 0, bytes: [], offset: offset, order: order, copy: copy ^ 1, digest: 0)
        }
    }

    private struct Copy {
        let record: Record
        /// The number of slots that the step changed.
        let changes: UInt32
    }

    /// The records that count, in the order of their steps.
    private(set) var records: [Record] = []
    /// The last step of which everything was written.
    private(set) var step: UInt64 = 0
    let key: UInt64
    /// The copies of a step that was not written as a whole.
    private(set) var dropped: [Int] = []
    /// The places of common size without a valid copy.
    private(set) var unused: [Int] = []
    /// The end of the last slot.
    private(set) var end = SlotFormat.headerSize

    /// A Boolean value that indicates whether a new file would have less than a quarter of the slots, and the file is not small.
    var isMostlyFree: Bool {
        let used = records.lazy.filter { $0.kind != .free }.reduce(0) { $0 + SlotFormat.slotSize($1.order) }
        return end > 1 << 18 && used < end / 4
    }

    /// Reads a file; nil if there is none that begins with this line.
    ///
    /// - Throws: The error of ``ReservedFile/contents(of:limit:)``.
    init?(path: String, header: [UInt8]) throws(Errno) {
        guard let bytes = try ReservedFile.contents(of: path, limit: SavedState.sizeLimit) else { return nil }
        self.init(bytes, header: header)
    }

    /// Reads the bytes of a file; nil if they do not begin with this line.
    init?(_ bytes: [UInt8], header: [UInt8]) {
        guard bytes.count >= SlotFormat.headerSize, bytes.starts(with: header) else { return nil }
        key = SlotFormat.number(unsafe bytes.span.bytes, SlotFormat.headerSize - 8)
        var found: [Copy] = []
        var position = SlotFormat.headerSize
        let written = SlotFormat.endOfWritten(bytes)
        while position < written, position + SlotFormat.slotSize(0) <= bytes.count {
            if let order = Self.addCopies(at: position, in: bytes, key: key, to: &found) {
                position += SlotFormat.slotSize(order)
                end = position
            } else {
                unused.append(position)
                position += SlotFormat.slotSize(0)
            }
        }
        unused.removeAll { [end] in $0 >= end }
        chooseCopies(found)
        records.sort { $0.step < $1.step }
    }

    /// Chooses the copies of the last whole step. A step counts if each slot that it changed has its copy. An earlier
    /// step was written as a whole before.
    ///
    /// - Parameter found: The valid copies, those of a slot behind each other.
    private mutating func chooseCopies(_ found: [Copy]) {
        let last = found.reduce(0) { max($0, $1.record.step) }
        let changes = found.count { $0.record.step == last }
        let isWhole = found.allSatisfy { $0.record.step < last || $0.changes == changes }
        step = isWhole ? last : max(last, 1) - 1
        var next = 0
        while next < found.count {
            let first = next
            var newest: Int?
            while next < found.count, found[next].record.offset == found[first].record.offset {
                let record = found[next].record
                if record.step > step {
                    dropped.append(SlotFormat.offset(of: record.copy, record.offset, record.order))
                } else if newest.map({ found[$0].record.step < record.step }) ?? true {
                    newest = next
                }
                next += 1
            }
            // The slot is free if its first record does not count.
            records.append(newest.map { found[$0].record } ?? found[first].record.freed)
        }
    }

    /// Adds the valid copies of the slot at this position.
    ///
    /// - Returns: The order of the slot; nil if no copy is valid.
    private static func addCopies(at position: Int, in bytes: [UInt8], key: UInt64, to found: inout [Copy]) -> UInt8? {
        if let first = copy(0, at: position, nil, in: bytes, key: key) {
            found.append(first)
            if let second = copy(1, at: position, first.record.order, in: bytes, key: key) { found.append(second) }
            return first.record.order
        }
        for order in 0...SlotFormat.lastOrder {
            guard let second = copy(1, at: position, order, in: bytes, key: key) else { continue }
            found.append(second)
            return order
        }
        return nil
    }

    /// Returns a copy if it is valid.
    ///
    /// - Parameter order: The order that it must have; nil for any.
    private static func copy(
        _ copy: Int, at slot: Int, _ order: UInt8?, in bytes: [UInt8], key: UInt64
    ) -> Copy? {
        let start = SlotFormat.offset(of: copy, slot, order ?? 0)
        guard start + SlotFormat.frameHeaderSize <= bytes.count else { return nil }
        let raw = unsafe bytes.span.bytes
        let check = SlotFormat.number(raw, start)
        let sizes = SlotFormat.number(raw, start + 16)
        let header = SlotFormat.FrameHeader(
            step: SlotFormat.number(raw, start + 8), changes: UInt32(truncatingIfNeeded: sizes),
            length: UInt32(truncatingIfNeeded: sizes >> 32), kind: bytes[start + 24], order: bytes[start + 25])
        guard check != 0, header.step < SlotFormat.endOfSteps,
            header.order <= SlotFormat.lastOrder, header.order == order ?? header.order,
            let kind = SlotKind(rawValue: header.kind)
        else { return nil }
        let record = start + SlotFormat.frameHeaderSize
        let size = (Int(header.length) + 7) & ~7
        guard SlotFormat.frameHeaderSize + size <= SlotFormat.copySize << Int(header.order),
            record + size <= bytes.count
        else { return nil }
        let digest =
            kind == .free
            ? 0
            : SlotFormat.digest(
                of: raw.extracting(record..<record + size), UInt64(header.length) << 8 | UInt64(header.kind))
        guard check == header.checksum(digest, key: key, offset: slot, copy: copy) else { return nil }
        return Copy(
            record: Record(
                kind: kind, step: header.step, bytes: bytes[record..<record + Int(header.length)], offset: slot,
                order: header.order, copy: copy, digest: digest),
            changes: header.changes)
    }
}
