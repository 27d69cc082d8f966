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
    /// The resource values of an app as text, which is only read: the format before ``resourceNumbers``.
    case resources
    /// The resource values of an app, as numbers.
    case resourceNumbers
    /// The progress of the conversation on the channel of an app.
    case channel
}

/// The file of slots in the runtime directory: the part of the state that changes all the time.
///
/// ``begin()``, ``add(_:to:_:)``, ``remove(_:)`` and ``commit()`` make a step, for which space is reserved first. A slot has two copies
/// of a record, written by turns. A reader takes all of a step, or falls back to the step before; see ``SlotFormat``.
struct SlotFile: ~Copyable {
    private struct Slot {
        /// The digest of the record that counts; 0 for none.
        var digest: UInt64
        private let place: UInt32
        let order: UInt8
        private var lastCopy: UInt8
        /// A Boolean value that indicates whether the present step changes the slot.
        var isInStep = false

        init(offset: Int, order: UInt8, copy: Int, digest: UInt64) {
            self.digest = digest
            place = UInt32(offset / SlotFormat.copySize)
            self.order = order
            lastCopy = UInt8(copy)
        }

        var offset: Int { Int(place) * SlotFormat.copySize }

        /// The copy that counts, 0 or 1.
        var copy: Int {
            get { Int(lastCopy) }
            set { lastCopy = UInt8(newValue) }
        }
    }

    private struct Change {
        let slot: Int
        let kind: SlotKind
        let digest: UInt64
        /// The frame in the buffer: a header, the record, and zeros up to a multiple of eight.
        let frame: Range<Int>
        let length: Int
    }

    let path: String
    /// The number of the last step.
    private(set) var step: UInt64
    private let file: ReservedFile
    private let key: UInt64
    private var slots: [Slot] = []
    private var free: [UInt8: [Int]] = [:]
    private var end = SlotFormat.headerSize
    private var buffer = SlotWriter()
    private var changes: [Change] = []
    private var failure: Processes.Errno?

    /// Opens the slots of a former daemon, or makes a new file.
    ///
    /// - Parameters:
    ///   - header: A line that the file must begin with.
    ///   - known: The contents of the file, if they were just read.
    ///   - keep: Called for each record, with its slot.
    static func open(
        _ path: String, header: [UInt8], _ known: SlotContents? = nil, keep: (SlotContents.Record, Int) -> Void
    ) throws(Processes.Errno) -> SlotFile {
        let contents = if let known { known } else { try SlotContents(path: path, header: header) }
        if contents == nil { ReservedFile.remove(path) }
        var slots = SlotFile(
            path: path, file: try ReservedFile(at: path), step: contents?.step ?? 0,
            key: contents?.key ?? UInt64.random(in: 1...UInt64.max))
        if let contents {
            try slots.restore(contents, keep)
        } else {
            if let error = slots.file.reserve(leastCapacity(for: slots.end)) { throw error }
            try slots.file.write(SlotFormat.header(header, key: slots.key), at: 0)
        }
        _ = slots.file.reserve(2 * slots.end + slack)
        return slots
    }

    private init(path: String, file: ReservedFile, step: UInt64, key: UInt64) {
        self.path = path
        self.file = file
        self.step = step
        self.key = key
    }

    private mutating func restore(
        _ contents: SlotContents, _ keep: (SlotContents.Record, Int) -> Void
    ) throws(Processes.Errno) {
        // Otherwise the half of a step would count as soon as a later step is written.
        for offset in contents.dropped { try file.write([UInt8](repeating: 0, count: 8), at: offset) }
        slots.reserveCapacity(contents.records.count + contents.unused.count)
        for record in contents.records {
            slots.append(Slot(offset: record.offset, order: record.order, copy: record.copy, digest: record.digest))
            if record.kind == .free {
                free[record.order, default: []].append(slots.count - 1)
            } else {
                keep(record, slots.count - 1)
            }
        }
        end = contents.end
        for offset in contents.unused {
            slots.append(Slot(offset: offset, order: 0, copy: 1, digest: 0))
            free[0, default: []].append(slots.count - 1)
        }
    }

    /// The room for changes that is kept from step to step. A restart changes all apps in one step.
    private static let changesToKeep = 64

    // MARK: Steps

    /// Begins a step. A step before it that was not committed is lost.
    mutating func begin() {
        buffer.reset()
        for change in changes { slots[change.slot].isInStep = false }
        changes.removeAll(keepingCapacity: changes.capacity <= Self.changesToKeep)
        failure = nil
    }

    /// Adds a record to the step.
    ///
    /// - Parameters:
    ///   - slot: The slot of the record so far; nil for none.
    ///   - isNew: Whether the record is to be written even if the slot has the same.
    ///   - write: Writes the record; returns whether there is one.
    /// - Returns: The slot of the record from now on; nil if there is no record, and the slot is as it was.
    mutating func add(
        _ kind: SlotKind, to slot: Int?, isNew: Bool = false, _ write: (inout SlotWriter) -> Bool
    ) -> Int? {
        buffer.pad(adding: SlotFormat.frameHeaderSize)
        let start = buffer.count - SlotFormat.frameHeaderSize
        guard write(&buffer) else {
            buffer.cut(to: start)
            return nil
        }
        let length = buffer.count - start - SlotFormat.frameHeaderSize
        buffer.pad()
        let frame = start..<buffer.count
        let digest = buffer.withBytes(frame.lowerBound + SlotFormat.frameHeaderSize..<frame.upperBound) { record in
            SlotFormat.digest(of: record, UInt64(length) << 8 | UInt64(kind.rawValue))
        }
        if let slot { dropChange(of: slot) }
        if let slot, !isNew, digest != 0, slots[slot].digest == digest {
            buffer.cut(to: start)
            return slot
        }
        let order = SlotFormat.order(for: frame.count)
        var place = slot
        if let slot, slots[slot].order < order {
            remove(slot)
            place = nil
        }
        let slot = place ?? allocate(order)
        append(Change(slot: slot, kind: kind, digest: digest, frame: frame, length: length))
        return slot
    }

    private mutating func append(_ change: Change) {
        changes.append(change)
        slots[change.slot].isInStep = true
    }

    /// Takes back what the present step has changed of a slot.
    private mutating func dropChange(of slot: Int) {
        guard slots[slot].isInStep else { return }
        changes.removeAll { $0.slot == slot }
        slots[slot].isInStep = false
    }

    /// Frees a slot with the step.
    mutating func remove(_ slot: Int) {
        dropChange(of: slot)
        buffer.pad(adding: SlotFormat.frameHeaderSize)
        let frame = buffer.count - SlotFormat.frameHeaderSize..<buffer.count
        append(Change(slot: slot, kind: .free, digest: 0, frame: frame, length: 0))
    }

    /// Writes the step.
    ///
    /// - Throws: The error because of which nothing of the step counts. The file must then be opened again.
    mutating func commit() throws(Processes.Errno) {
        guard !changes.isEmpty else { return }
        if let failure { throw failure }
        step += 1
        for change in changes { try write(change) }
        for change in changes {
            slots[change.slot].copy ^= 1
            slots[change.slot].digest = change.digest
            if change.kind == .free { free[slots[change.slot].order, default: []].append(change.slot) }
        }
        begin()
    }

    @inline(__always)
    private mutating func write(_ change: Change) throws(Processes.Errno) {
        let slot = slots[change.slot]
        let header = SlotFormat.FrameHeader(
            step: step, changes: UInt32(truncatingIfNeeded: changes.count), length: UInt32(change.length),
            kind: change.kind.rawValue, order: slot.order)
        let copy = slot.copy ^ 1
        let check = header.checksum(change.digest, key: key, offset: slot.offset, copy: copy)
        let start = change.frame.lowerBound
        buffer.put(check, at: start)
        buffer.put(header.step, at: start + 8)
        buffer.put(header.sizes, at: start + 16)
        buffer.put(header.form, at: start + 24)
        try buffer.withBytes(change.frame) { (frame) throws(Processes.Errno) in
            try file.write(frame, at: SlotFormat.offset(of: copy, slot.offset, slot.order))
        }
    }

    // MARK: Space

    private static let slack = 1 << 16

    private static func leastCapacity(for end: Int) -> Int { end + end / 2 + slack / 2 }

    /// A Boolean value that indicates whether there is space for more apps and for the growth of the present ones.
    var hasRoom: Bool { file.capacity >= Self.leastCapacity(for: end) }

    /// Reserves space for more apps.
    func makeRoom() {
        if !hasRoom, file.reserve(2 * end + Self.slack) != nil { _ = file.reserve(Self.leastCapacity(for: end)) }
    }

    private mutating func allocate(_ order: UInt8) -> Int {
        if let slot = free[order]?.popLast() { return slot }
        let size = SlotFormat.slotSize(order)
        if end + size > file.capacity, file.reserve(2 * (end + size) + Self.slack) != nil {
            failure = file.reserve(end + size) ?? failure
        }
        slots.append(Slot(offset: end, order: order, copy: 1, digest: 0))
        end += size
        return slots.count - 1
    }
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

    @inline(__always)
    static func number(_ raw: RawSpan, _ position: Int) -> UInt64 {
        UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    @inline(__always)
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

    /// Far more than 10,000 apps need, in bytes.
    private static let sizeLimit = 256 << 20

    /// Reads a file; nil if there is none that only the daemon's own user may write to and that begins with this line.
    ///
    /// - Throws: The error if there may be such a file, and it cannot be opened for now.
    init?(path: String, header: [UInt8]) throws(Processes.Errno) {
        guard let bytes = try ReservedFile.contents(of: path, limit: Self.sizeLimit) else { return nil }
        self.init(bytes, header: header)
    }

    /// Reads the bytes of a file; nil if they do not begin with this line.
    init?(_ bytes: [UInt8], header: [UInt8]) {
        guard bytes.count >= SlotFormat.headerSize, bytes.starts(with: header) else { return nil }
        key = SlotFormat.number(unsafe bytes.span.bytes, SlotFormat.headerSize - 8)
        var found: [[(record: Record, changes: UInt32)]] = []
        var position = SlotFormat.headerSize
        let written = SlotFormat.endOfWritten(bytes)
        while position < written, position + SlotFormat.slotSize(0) <= bytes.count {
            let copies = Self.copies(at: position, in: bytes, key: key)
            if let order = copies.first?.record.order {
                found.append(copies)
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
    private mutating func chooseCopies(_ found: [[(record: Record, changes: UInt32)]]) {
        let all = found.joined()
        let last = all.map(\.record.step).max() ?? 0
        let ofLast = all.filter { $0.record.step == last }
        let isWhole = ofLast.allSatisfy { $0.changes == ofLast.count }
        step = isWhole ? last : max(last, 1) - 1
        for copies in found {
            let whole = copies.map(\.record).filter { $0.step <= step }
            if let newest = whole.max(by: { $0.step < $1.step }) {
                records.append(newest)
            } else if let first = copies.first?.record {
                // Its first record does not count: the slot is free.
                records.append(
                    Record(
                        kind: .free, step: 0, bytes: [], offset: first.offset, order: first.order, copy: first.copy ^ 1,
                        digest: 0))
            }
            dropped += copies.map(\.record).filter { $0.step > step }
                .map { SlotFormat.offset(of: $0.copy, $0.offset, $0.order) }
        }
    }

    /// Returns the valid copies of the slot at this position.
    private static func copies(at position: Int, in bytes: [UInt8], key: UInt64) -> [(record: Record, changes: UInt32)]
    {
        if let first = copy(0, at: position, nil, in: bytes, key: key) {
            return [first, copy(1, at: position, first.record.order, in: bytes, key: key)].compactMap { $0 }
        }
        for order in 0...SlotFormat.lastOrder {
            if let second = copy(1, at: position, order, in: bytes, key: key) { return [second] }
        }
        return []
    }

    /// Returns a copy if it is valid.
    ///
    /// - Parameter order: The order that it must have; nil for any.
    private static func copy(
        _ copy: Int, at slot: Int, _ order: UInt8?, in bytes: [UInt8], key: UInt64
    ) -> (record: Record, changes: UInt32)? {
        let start = SlotFormat.offset(of: copy, slot, order ?? 0)
        guard start + SlotFormat.frameHeaderSize <= bytes.count else { return nil }
        let raw = unsafe bytes.span.bytes
        let check = SlotFormat.number(raw, start)
        let sizes = SlotFormat.number(raw, start + 16)
        let header = SlotFormat.FrameHeader(
            step: SlotFormat.number(raw, start + 8), changes: UInt32(truncatingIfNeeded: sizes),
            length: UInt32(truncatingIfNeeded: sizes >> 32), kind: bytes[start + 24], order: bytes[start + 25])
        guard check != 0, header.order <= SlotFormat.lastOrder, header.order == order ?? header.order,
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
        return (
            Record(
                kind: kind, step: header.step, bytes: bytes[record..<record + Int(header.length)], offset: slot,
                order: header.order, copy: copy, digest: digest),
            header.changes
        )
    }
}
