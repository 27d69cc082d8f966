import Glibc
import LifecycleCore
import OrderedCollections
import Processes

/// The slots of the apps, of the machine and of the transitions to announce, and the table of them.
struct StateSlots: ~Copyable {
    private struct AppSlots {
        /// Nil without slots.
        var id: AppID?
        /// The slot of the record; nil if only values and a channel were saved, for an app whose record follows.
        var record: Int?
        var resources: Int?
        var channel: Int?
    }

    /// The slots of a former daemon, less those that have an app.
    private struct FormerSlots {
        var records: [AppID: Int] = [:]
        var resources: [AppID: Int] = [:]
        var channels: [AppID: Int] = [:]
    }

    private var file: SlotFile
    /// By the index of the app in the core.
    private var apps: [AppSlots] = []
    private var machine: Int?
    private var announced: Int?
    /// The slots of transitions that are not announced, and those of others, which are written again.
    private var transitions: [Int] = []
    private var idleTransitions: [Int] = []
    /// The apps that have no record any more.
    private var forgotten: [AppID] = []

    /// Opens the slots of a former daemon, or makes the file, and saves the whole state.
    ///
    /// - Parameters:
    ///   - header: The line that the file begins with.
    ///   - contents: The contents of the file, if they were just read.
    static func open(
        _ path: String, header: [UInt8], _ contents: SlotContents?, saving source: any StateSource
    ) throws(Errno) -> StateSlots {
        if let contents, contents.isMostlyFree, let slots = try? replace(path, header: header, saving: source) {
            return slots
        }
        var former = FormerSlots()
        var (machine, announced): (Int?, Int?)
        var idle: [Int] = []
        let file = try SlotFile.open(path, header: header, contents) { record, slot in
            switch record.kind {
            case .free: break
            case .app:
                guard let id = SlotReader(record.bytes).appID else { return idle.append(slot) }
                if let older = former.records.updateValue(slot, forKey: id) { idle.append(older) }
            case .machine: machine = slot
            case .transitions: idle.append(slot)
            case .announced: announced = slot
            case .resources:
                if let id = SlotReader(record.bytes).appID { former.resources[id] = slot }
            case .channel:
                if let (id, _) = ChannelProgress.read(record.bytes) { former.channels[id] = slot }
            }
        }
        var slots = StateSlots(file)
        (slots.machine, slots.announced) = (machine, announced)
        slots.file.begin()
        slots.add(source, former)
        for slot in idle { slots.file.remove(slot) }
        try slots.file.commit()
        slots.forgotten = []
        return slots
    }

    /// Saves the whole state in a new file that takes the place of the file, which may be as large as for the most apps ever.
    ///
    /// - Throws: The error because of which the file stays.
    private static func replace(
        _ path: String, header: [UInt8], saving source: any StateSource
    ) throws(Errno) -> StateSlots {
        let new = newPath(path)
        ReservedFile.remove(new)
        do throws(Errno) {
            let slots = try open(new, header: header, nil, saving: source)
            // The file has the whole state before it has the name: a daemon that is killed leaves one of the two.
            guard unsafe rename(new, path) == 0 else { throw Errno(rawValue: errno) }
            return slots
        } catch {
            ReservedFile.remove(new)
            throw error
        }
    }

    private static func newPath(_ path: String) -> String { path + ".new" }

    /// Removes the file, and a new file whose replacement of it failed.
    static func remove(_ path: String) {
        ReservedFile.remove(path)
        ReservedFile.remove(newPath(path))
    }

    private init(_ file: consuming SlotFile) { self.file = file }

    /// Adds the whole state, and frees the slots of what is no part of it any more.
    private mutating func add(_ source: any StateSource, _ former: FormerSlots) {
        var core = source.core
        var former = former
        for index in core.indexes {
            guard let id = core.app(at: index) else { continue }
            let slot = file.add(.app, to: former.records[id]) { core.writeRecord(at: index, to: &$0) != nil }
            guard let slot else { continue }
            former.records[id] = nil
            set(slot, of: id, at: index)
        }
        for (index, progress) in source.channelsToSave {
            guard let id = core.app(at: index.value) else { continue }
            update(id, at: index) { $0.channel = former.channels.removeValue(forKey: id) }
            add(progress, of: id, at: index)
        }
        for (index, record) in source.resourcesToSave {
            update(record.app, at: index) { $0.resources = former.resources.removeValue(forKey: record.app) }
            add(record, at: index)
        }
        for slots in [former.records, former.resources, former.channels] {
            for slot in slots.values { file.remove(slot) }
        }
        addMachine(&core)
        noteAnnounced()
        add(source.unannounced)
    }

    // MARK: Changes

    mutating func record(_ changed: OrderedSet<AppIndex>, of core: inout Engine) {
        for index in changed.lazy.map(\.value) {
            let former = index < apps.count ? apps[index].record : nil
            var app: AppID?
            let slot = file.add(.app, to: former) { slot in
                app = core.writeRecord(at: index, to: &slot)
                return app != nil
            }
            guard let slot, let id = app else {
                forget(at: index)
                continue
            }
            if former != slot || apps[index].id != id { set(slot, of: id, at: index) }
        }
        addMachine(&core)
    }

    /// Notes the slot of the record of an app. An index that was another app's before has the record of that app in this slot.
    private mutating func set(_ slot: Int, of id: AppID, at index: Int) {
        extend(to: index)
        if apps[index].id != id {
            forgetRest(of: apps[index])
            apps[index] = AppSlots(id: id)
        }
        apps[index].record = slot
    }

    /// Changes the slots of an app, unless its index belongs to another app.
    private mutating func update(_ id: AppID, at index: AppIndex, _ change: (inout AppSlots) -> Void) {
        extend(to: index.value)
        if apps[index.value].id == nil { apps[index.value].id = id }
        guard apps[index.value].id == id else { return }
        change(&apps[index.value])
    }

    private mutating func extend(to index: Int) {
        while apps.count <= index { apps.append(AppSlots()) }
    }

    private mutating func forget(at index: Int) {
        guard index < apps.count else { return }
        let former = apps[index]
        apps[index] = AppSlots()
        if let slot = former.record { file.remove(slot) }
        forgetRest(of: former)
    }

    private mutating func forgetRest(of app: AppSlots) {
        guard let id = app.id else { return }
        for slot in [app.resources, app.channel] { if let slot { file.remove(slot) } }
        forgotten.append(id)
    }

    private mutating func addMachine(_ core: inout Engine) {
        machine = file.add(.machine, to: machine) { slot in
            core.writeRecord(to: &slot)
            return true
        }
    }

    mutating func add(_ record: SavedResources, at index: AppIndex) {
        let former = slots(of: record.app, at: index)?.resources
        let slot = file.add(.resources, to: former) { slot in
            record.write(to: &slot)
            return true
        }
        if slot != former { update(record.app, at: index) { $0.resources = slot } }
    }

    mutating func add(_ progress: ChannelProgress, of id: AppID, at index: AppIndex) {
        let former = slots(of: id, at: index)?.channel
        let slot = file.add(.channel, to: former) { slot in
            progress.write(of: id, to: &slot)
            return true
        }
        if slot != former { update(id, at: index) { $0.channel = slot } }
    }

    private func slots(of id: AppID, at index: AppIndex) -> AppSlots? {
        guard index.value < apps.count, apps[index.value].id == id else { return nil }
        return apps[index.value]
    }

    // MARK: Transitions

    /// Adds the transitions to announce.
    ///
    /// - Returns: The apps that have no record any more since the last call.
    mutating func add(_ effects: [Effect]) -> [AppID] {
        addTransitions { slot in
            let (before, span) = (slot.count, effects.span)
            for index in span.indices {
                if case .transition(let transition) = span[index] { Announcement.write(transition, to: &slot) }
                if case .sceneTransition(let transition) = span[index] { Announcement.write(transition, to: &slot) }
            }
            return slot.count > before
        }
        guard !forgotten.isEmpty else { return [] }
        defer { forgotten = [] }
        return forgotten
    }

    private mutating func add(_ announcements: [Announcement]) {
        addTransitions { slot in
            for announcement in announcements { announcement.write(to: &slot) }
            return !announcements.isEmpty
        }
    }

    private mutating func addTransitions(_ write: (inout SlotWriter) -> Bool) {
        let idle = idleTransitions.last
        guard let slot = file.add(.transitions, to: idle, isNew: true, write) else { return }
        if idle != nil { idleTransitions.removeLast() }
        transitions.append(slot)
    }

    /// Adds that all transitions of steps so far are announced.
    mutating func noteAnnounced() {
        var step: UInt64? = file.step
        announced = file.add(.announced, to: announced) { slot in
            slot.number("announced", &step)
            return true
        }
        idleTransitions += transitions
        transitions.removeAll(keepingCapacity: true)
    }

    // MARK: Writing

    mutating func commit() throws(Errno) { try file.commit() }

    var hasRoom: Bool { file.hasRoom }
    mutating func makeRoom() { file.makeRoom() }
}
