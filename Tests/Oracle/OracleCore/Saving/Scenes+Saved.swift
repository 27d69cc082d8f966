// Scenes as they are saved, one value each: their parts are separated by a character that no text of a person has.

extension Scenes {
    func save(in record: inout SavedRecord) {
        for scene in all { record.add("scene", scene.text) }
        for id in front { record.add("scene-front", id.name) }
    }

    /// The scenes of a record, as far as they go with the state of their app.
    init(saved record: SavedRecord, of app: AppState, now: Instant) {
        for text in record.all("scene") {
            guard all.count < Self.limit, var scene = Scene(text: text, now: now), self[scene.id] == nil else {
                continue
            }
            scene.state = scene.state.possible(in: app)
            all.append(scene)
        }
        for name in record.all("scene-front") {
            guard let id = SceneID(name), !front.contains(id), let scene = self[id], !scene.isClosing else { continue }
            front.append(id)
        }
    }
}

extension Scene {
    private static let separator: Unicode.Scalar = "\u{1F}"

    /// The name of a flag that is set, one letter each.
    private enum Flag: Character {
        case wasConnected = "c"
        case isWanted = "w"
        case isClosing = "x"
        case hasInfo = "i"
    }

    var text: String {
        let flags: [(Flag, Bool)] = [
            (.wasConnected, wasConnected), (.isWanted, isWanted), (.isClosing, isClosing), (.hasInfo, info != nil),
        ]
        let parts = [
            id.name, role, origin.rawValue, state.rawValue, reason.rawValue, String(since.microseconds),
            lastInFront.map { String($0.microseconds) } ?? "", wishReason?.rawValue ?? "",
            String(flags.filter(\.1).map(\.0.rawValue)), info ?? "",
        ]
        // What an app may choose freely comes last, where it may have separators of its own.
        return parts.joined(separator: String(Self.separator))
    }

    init?(text: String, now: Instant) {
        let parts = text.words(separator: Self.separator, maxSplits: 9)
        guard parts.count == 10, let id = SceneID(parts[0]), SceneID.isWord(parts[1]),
            let origin = Origin(rawValue: parts[2]), let state = SceneState(rawValue: parts[3])
        else { return nil }
        let flags = Set(parts[8].compactMap { Flag(rawValue: $0) })
        let info = flags.contains(.hasInfo) && parts[9].utf8.count <= Self.infoLimit ? parts[9] : nil
        let since = UInt64(parts[5]).map { Instant(microseconds: $0) } ?? now
        self.init(id: id, role: parts[1], info: info, origin: origin, since: since)
        self.state = state
        reason = Reason(saved: parts[4])
        lastInFront = UInt64(parts[6]).map { Instant(microseconds: $0) }
        wishReason = parts[7].isEmpty ? nil : Reason(saved: parts[7])
        wasConnected = flags.contains(.wasConnected)
        isWanted = flags.contains(.isWanted)
        isClosing = flags.contains(.isClosing)
    }
}

extension SceneState {
    /// The state, or what comes nearest to it in an app of this state.
    fileprivate func possible(in app: AppState) -> SceneState {
        switch (app, self) {
        case (.notRunning, _), (.terminating, _), (_, .unattached): .unattached
        case (.suspended, _): .suspended
        case (_, .suspended), (.background, _): .background
        case (.inactive, .foregroundActive): .foregroundInactive
        case (.inactive, _), (.active, _): self
        }
    }
}
