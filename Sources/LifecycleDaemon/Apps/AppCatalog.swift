import Configuration
import LifecycleCore

/// The definitions of all apps that can be launched or run.
struct AppCatalog {
    private var entries: [Entry] = []
    private var ids = AppIDTable()
    /// A definition on the heap: an array has room for more values than there are.
    private final class Entry {
        let id: AppID
        let definition: AppDefinition
        /// The definition by manifest of an app whose processes were adopted.
        let described: Entry?

        init(_ id: AppID, _ definition: AppDefinition, described: Entry? = nil) {
            self.id = id
            self.definition = definition
            self.described = described
        }
    }

    /// The definitions, in no order.
    var definitions: some Collection<(key: AppID, value: AppDefinition)> {
        entries.lazy.map { (key: $0.id, value: $0.definition) }
    }

    private func position(of id: AppID) -> Int? { ids.position(of: id) { entries[$0].id == id } }

    func name(of id: AppID) -> String? { position(of: id).flatMap { entries[$0].definition.name } }

    private(set) subscript(id: AppID) -> AppDefinition? {
        get { position(of: id).map { entries[$0].definition } }
        set {
            switch (position(of: id), newValue) {
            case (let position?, let definition?):
                let before = entries[position]
                entries[position] = Entry(before.id, definition, described: before.described)
            case (nil, let definition?):
                entries.append(Entry(id, definition))
                ids.insert(entries.count - 1) { [entries] in entries[$0].id }
            case (let position?, nil): removeEntry(at: position)
            case (nil, nil): break
            }
        }
    }

    /// Removes an entry; the last one takes its position.
    private mutating func removeEntry(at position: Int) {
        let last = entries.count - 1
        ids.remove(position) { [entries] in entries[$0].id }
        if position != last {
            ids.remove(last) { [entries] in entries[$0].id }
            entries[position] = entries[last]
            ids.insert(position) { [entries] in entries[$0].id }
        }
        entries.removeLast()
    }

    mutating func insert(_ definition: AppDefinition, as id: AppID) { self[id] = definition }

    mutating func remove(_ id: AppID) { self[id] = nil }

    /// Sets the definition by manifest of an app whose processes were adopted; nil for none.
    private mutating func setDescribed(_ definition: AppDefinition?, of id: AppID) {
        guard let position = position(of: id) else { return }
        let entry = entries[position]
        entries[position] = Entry(entry.id, entry.definition, described: definition.map { Entry(entry.id, $0) })
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
    mutating func endAdoption(of id: AppID) -> AppDefinition? {
        guard let definition = position(of: id).flatMap({ entries[$0].described?.definition }) else { return nil }
        setDescribed(nil, of: id)
        self[id] = definition
        return definition
    }

    /// Applies the manifests of a configuration. Ad-hoc apps stay, with the new defaults.
    ///
    /// - Parameter entry: Returns the present definition of an app of a desktop entry.
    /// - Returns: The ids that nothing describes any more. Their definitions stay until the core forgets them.
    mutating func apply(
        _ manifests: [Manifest], defaults: Policy, entry: (AppID) -> AppDefinition? = { _ in nil }
    ) -> Set<AppID> {
        let current = Set(manifests.map { AppID($0.id) })
        var gone: Set<AppID> = []
        for (id, definition) in definitions where !definition.isAdHoc && !current.contains(id) {
            guard definition.isFromEntry, let again = entry(id) else {
                gone.insert(id)
                continue
            }
            self[id] = again
            if definition.isAdopted { beginAdoption(of: id, isUnit: definition.isFromUnit) }
        }
        for (id, definition) in definitions where definition.isAdHoc {
            var (definition, policy) = (definition, definition.policy)
            policy.timeouts = defaults.timeouts
            policy.onExit = defaults.onExit
            policy.assertionLimit = defaults.assertionLimit
            definition.policy = policy
            self[id] = definition
        }
        for id in gone { setDescribed(nil, of: id) }
        var latest: AppDefinition?
        for manifest in manifests {
            let id = AppID(manifest.id)
            let before = self[id]
            var definition = AppDefinition(manifest: manifest, defaults: defaults)
            if let latest { definition.share(with: latest) }
            latest = definition
            self[id] = definition
            if let before, before.isAdopted { beginAdoption(of: id, isUnit: before.isFromUnit) }
        }
        for (id, definition) in definitions {
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
