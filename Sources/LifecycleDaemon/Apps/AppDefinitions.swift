import Configuration
import LifecycleCore

/// The definitions of all apps that can be launched or run.
struct AppDefinitions {
    private struct Entry {
        var definition: AppDefinition
        /// The definition by manifest of an app whose processes were adopted, or whose id a program of another user has.
        var described: AppDefinition?
    }

    private var entries: [AppID: Entry] = [:]

    /// The definitions, in no order.
    var all: [(key: AppID, value: AppDefinition)] {
        entries.map { (key: $0.key, value: $0.value.definition) }
    }

    private(set) subscript(id: AppID) -> AppDefinition? {
        get { entries[id]?.definition }
        set {
            guard let newValue else {
                entries[id] = nil
                return
            }
            entries[id, default: Entry(definition: newValue)].definition = newValue
        }
    }

    mutating func insert(_ definition: AppDefinition, as id: AppID) { self[id] = definition }

    mutating func remove(_ id: AppID) { self[id] = nil }

    /// Sets the definition by manifest that applies when the present program has ended; nil for none.
    private mutating func setDescribed(_ definition: AppDefinition?, of id: AppID) {
        entries[id]?.described = definition
    }

    /// Returns whether a program that a client runs or has adopted has the id of a manifest of another user.
    func isOccupied(_ id: AppID) -> Bool {
        guard let entry = entries[id] else { return false }
        return entry.described != nil && entry.definition.isAdHoc
    }

    /// The ids of manifests that programs of other users have.
    var occupiedIDs: [AppID] { entries.keys.filter(isOccupied) }

    /// Lets the manifest of an id wait for the end of a program of another user.
    mutating func occupy(_ id: AppID, by definition: AppDefinition) {
        let described = self[id]
        self[id] = definition
        setDescribed(described, of: id)
    }

    /// Makes the manifest of an id apply again.
    ///
    /// - Returns: Its definition; nil if no program of another user had the id.
    mutating func endOccupation(of id: AppID) -> AppDefinition? { isOccupied(id) ? applyDescribed(of: id) : nil }

    private mutating func applyDescribed(of id: AppID) -> AppDefinition? {
        guard let definition = entries[id]?.described else { return nil }
        entries[id] = Entry(definition: definition)
        return definition
    }

    /// Returns the bytes in the saved state of the programs that clients run as these users.
    func savedSize(ofUsers areMeant: (AppDefinition.User) -> Bool) -> Int {
        entries.values.reduce(0) { areMeant($1.definition.user) ? $0 + $1.definition.savedSize : $0 }
    }

    /// The names of the users that definitions name.
    var userNames: Set<String> {
        let definitions = entries.values.flatMap { [$0.definition, $0.described].compactMap(\.self) }
        return Set(definitions.compactMap { if case .named(let name) = $0.user { name } else { nil } })
    }

    /// - Parameter isUnit: Whether the processes are those of a unit of the desktop.
    mutating func beginAdoption(of id: AppID, isUnit: Bool = false) {
        guard let definition = self[id] else { return }
        guard !definition.isAdopted else {
            if isUnit { self[id] = definition.adoptedFromUnit }
            return
        }
        if !definition.isAdHoc { setDescribed(definition, of: id) }
        self[id] = isUnit ? definition.adoptedFromUnit : definition.adopted
    }

    /// Makes an app that of its manifest again.
    ///
    /// - Returns: Its definition; nil if it was not adopted, or has no manifest.
    mutating func endAdoption(of id: AppID) -> AppDefinition? { isOccupied(id) ? nil : applyDescribed(of: id) }

    /// Applies the manifests of a configuration. Ad-hoc apps stay, with the new defaults.
    ///
    /// - Parameters:
    ///   - haveSameUser: Returns whether a program that a client runs and a manifest have the same user. If not, the manifest waits for
    ///     the end of the program.
    ///   - entry: Returns the present definition of an app of a desktop entry.
    /// - Returns: The ids that nothing describes any more. Their definitions stay until the core forgets them.
    mutating func apply(
        _ manifests: [Manifest], defaults: Policy,
        haveSameUser: (AppDefinition, AppDefinition) -> Bool = { _, _ in true },
        entry: (AppID) -> AppDefinition? = { _ in nil }
    ) -> Set<AppID> {
        let current = Set(manifests.map { AppID($0.id) })
        var gone: Set<AppID> = []
        for (id, definition) in all where !definition.isAdHoc && !current.contains(id) {
            guard definition.isFromEntry, let again = entry(id) else {
                gone.insert(id)
                continue
            }
            self[id] = again
            if definition.isAdopted { beginAdoption(of: id, isUnit: definition.isFromUnit) }
        }
        for (id, var definition) in all where definition.isAdHoc {
            definition.defaults = defaults
            entries[id] = Entry(definition: definition)
        }
        for id in gone { setDescribed(nil, of: id) }
        for manifest in manifests {
            let id = AppID(manifest.id)
            let before = self[id]
            let definition = AppDefinition(manifest: manifest, defaults: defaults)
            if let before, before.isAdHoc, !haveSameUser(before, definition) {
                setDescribed(definition, of: id)
                continue
            }
            self[id] = definition
            if let before, before.isAdopted { beginAdoption(of: id, isUnit: before.isFromUnit) }
        }
        for (id, definition) in all {
            if let model = definition.model.flatMap({ self[AppID($0)] }) { self[id]?.follow(model) }
        }
        return gone
    }

    /// Returns an unused id for an ad-hoc app, after its program.
    func freeID(for command: [String]) -> AppID {
        let program = command.first?.split(separator: "/").last.map(String.init) ?? ""
        let base = String(program.filter(\.isAllowedInID).drop { $0 == "." || $0 == "-" }.prefix(100))
        let name = base.isEmpty ? "app" : base
        if self[AppID(name)] == nil { return AppID(name) }
        var number = 2
        while self[AppID("\(name)-\(number)")] != nil { number += 1 }
        return AppID("\(name)-\(number)")
    }
}

extension Character {
    fileprivate var isAllowedInID: Bool {
        isASCII && (isLetter || isNumber || self == "." || self == "_" || self == "-")
    }
}
