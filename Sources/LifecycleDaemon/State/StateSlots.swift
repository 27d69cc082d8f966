import LifecycleCore
import Processes

/// The slots of the apps, of the machine and of the transitions to announce, and the table of them.
///
/// A value with one owner, so that its parts are reached without checks for exclusive access.
struct StateSlots: ~Copyable {
    private struct AppSlot {
        let id: AppID
        let slot: Int
    }

    private var file: SlotFile
    /// By the index of the app in the core.
    private var apps: [AppSlot?] = []
    private var machine: Int?
    private var resources: [AppID: Int] = [:]
    private var channels: [AppID: Int] = [:]
    private var announced: Int?
    /// The slots of transitions that are not announced, and those of others, which are written again.
    private var transitions: [Int] = []
    private var idleTransitions: [Int] = []
    /// The apps that have no record any more.
    private var forgotten: [AppID] = []

    /// Opens the slots of a former daemon, or makes the file, and saves the whole state.
    ///
    /// - Parameter contents: The contents of the file, if they were just read.
    static func open(
        _ path: String, _ contents: SlotContents?, saving source: any StateSource
    ) throws(Processes.Errno) -> StateSlots {
        var former: [AppID: Int] = [:]
        var (machine, announced): (Int?, Int?)
        var resources: [AppID: Int] = [:]
        var channels: [AppID: Int] = [:]
        var idle: [Int] = []
        let header = SavedState.slotsHeader(bootID: BootID.current)
        let file = try SlotFile.open(path, header: header, contents) { record, slot in
            switch record.kind {
            case .free: break
            case .app:
                guard let id = Saved.slot(record.bytes).app else { return idle.append(slot) }
                if let older = former.updateValue(slot, forKey: id) { idle.append(older) }
            case .machine: machine = slot
            case .transitions: idle.append(slot)
            case .announced: announced = slot
            case .resources:
                if let name = SavedRecord(encoded: record.bytes)["id"] { resources[AppID(name)] = slot }
            case .resourceNumbers:
                if let id = SavedResources.app(record.bytes) { resources[id] = slot }
            case .channel:
                if let (id, _) = ChannelState.read(record.bytes) { channels[id] = slot }
            }
        }
        var slots = StateSlots(file)
        (slots.machine, slots.announced) = (machine, announced)
        (slots.resources, slots.channels) = (resources, channels)
        slots.file.begin()
        slots.add(source, former)
        for slot in idle { slots.file.remove(slot) }
        try slots.file.commit()
        slots.forgotten = []
        return slots
    }

    private init(_ file: consuming SlotFile) { self.file = file }

    private mutating func add(_ source: any StateSource, _ former: [AppID: Int]) {
        var core = source.core
        var former = former
        for index in core.indexes {
            guard let id = core.app(at: index) else { continue }
            let slot = file.add(.app, to: former[id]) { core.writeRecord(at: index, to: &$0) != nil }
            guard let slot else { continue }
            former[id] = nil
            set(AppSlot(id: id, slot: slot), at: index)
        }
        for slot in former.values { file.remove(slot) }
        addRest(source)
        addMachine(&core)
        noteAnnounced()
        add(source.unannounced)
    }

    /// Adds the state of the apps besides that in the core, and frees the slots of others.
    private mutating func addRest(_ source: any StateSource) {
        var (formerResources, formerChannels) = (resources, channels)
        for (id, state) in source.channelsToSave {
            add(state, of: id)
            formerChannels[id] = nil
        }
        for record in source.resourcesToSave {
            add(record)
            formerResources[record.app] = nil
        }
        for slot in formerResources.values { file.remove(slot) }
        for slot in formerChannels.values { file.remove(slot) }
        resources = resources.filter { formerResources[$0.key] == nil }
        channels = channels.filter { formerChannels[$0.key] == nil }
    }

    // MARK: Changes

    mutating func take(changesOf core: inout Lifecycle) {
        while let index = core.takeChangedIndex() {
            let former = index < apps.count ? apps[index] : nil
            var app: AppID?
            let slot = file.add(.app, to: former?.slot) { slot in
                app = core.writeRecord(at: index, to: &slot)
                return app != nil
            }
            guard let slot, let id = app else {
                if let former { forget(former, at: index) }
                continue
            }
            guard former?.slot != slot || former?.id != id else { continue }
            set(AppSlot(id: id, slot: slot), at: index)
            // The index belongs to another app by now.
            if let former, former.id != id { forgetRest(of: former.id) }
        }
        addMachine(&core)
    }

    private mutating func set(_ slot: AppSlot, at index: Int) {
        while apps.count <= index { apps.append(nil) }
        apps[index] = slot
    }

    private mutating func forget(_ app: AppSlot, at index: Int) {
        apps[index] = nil
        file.remove(app.slot)
        forgetRest(of: app.id)
    }

    private mutating func forgetRest(of id: AppID) {
        if let slot = resources.removeValue(forKey: id) { file.remove(slot) }
        if let slot = channels.removeValue(forKey: id) { file.remove(slot) }
        forgotten.append(id)
    }

    private mutating func addMachine(_ core: inout Lifecycle) {
        machine = file.add(.machine, to: machine) { slot in
            core.writeRecord(to: &slot)
            return true
        }
    }

    mutating func add(_ record: SavedResources) {
        let former = resources[record.app]
        let slot = file.add(.resourceNumbers, to: former) { slot in
            record.write(to: &slot)
            return true
        }
        if slot != former { resources[record.app] = slot }
    }

    mutating func add(_ state: ChannelState, of id: AppID) {
        channels[id] = file.add(.channel, to: channels[id]) { slot in
            state.write(of: id, to: &slot)
            return true
        }
    }

    // MARK: Transitions

    /// Adds the transitions to announce.
    ///
    /// - Returns: The apps that have no record any more since the last call.
    mutating func add(_ effects: [Effect]) -> [AppID] {
        addTransitions { slot in
            let (before, span) = (slot.count, effects.span)
            for index in span.indices {
                switch span[index] {
                case .transition(let transition): SavedTransition.write(transition, to: &slot)
                case .sceneTransition(let transition): SavedTransition.write(transition, to: &slot)
                default: break
                }
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

    mutating func commit() throws(Processes.Errno) { try file.commit() }

    var hasRoom: Bool { file.hasRoom }
    mutating func makeRoom() { file.makeRoom() }
}
