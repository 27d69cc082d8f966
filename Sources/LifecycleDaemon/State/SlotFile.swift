import LifecycleCore
import Processes

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
    private var failure: Errno?

    /// Opens the slots of a former daemon, or makes a new file.
    ///
    /// - Parameters:
    ///   - header: A line that the file must begin with.
    ///   - known: The contents of the file, if they were just read.
    ///   - keep: Called for each record, with its slot.
    static func open(
        _ path: String, header: [UInt8], _ known: SlotContents? = nil, keep: (SlotContents.Record, Int) -> Void
    ) throws(Errno) -> SlotFile {
        let contents = if let known { known } else { try readUnlessUseless(path, header: header) }
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

    /// Reads a file; nil if it is missing, or is to be replaced.
    ///
    /// - Throws: The error if the system lacks a resource for now.
    private static func readUnlessUseless(_ path: String, header: [UInt8]) throws(Errno) -> SlotContents? {
        do throws(Errno) {
            return try SlotContents(path: path, header: header)
        } catch {
            if error.isShortage { throw error }
            return nil
        }
    }

    private init(path: String, file: ReservedFile, step: UInt64, key: UInt64) {
        self.path = path
        self.file = file
        self.step = step
        self.key = key
    }

    private mutating func restore(
        _ contents: SlotContents, _ keep: (SlotContents.Record, Int) -> Void
    ) throws(Errno) {
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
    mutating func commit() throws(Errno) {
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

    private mutating func write(_ change: Change) throws(Errno) {
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
        try buffer.withBytes(change.frame) { (frame) throws(Errno) in
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
