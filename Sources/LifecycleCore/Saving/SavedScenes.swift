// The scenes of a saved app: each as a value of a slot, and as text, words between separators.

extension Scenes {
    /// Creates the scenes of a record, as far as they are legal in the state of their app.
    init(saved: Scenes, in app: AppState) {
        self.init()
        for var scene in saved.all where all.count < Self.limit && self[scene.id] == nil {
            scene.state = scene.state.nearest(in: app)
            all.append(scene)
        }
        for id in saved.foreground {
            guard !foreground.contains(id), let scene = self[id], !scene.isClosing else { continue }
            foreground.append(id)
        }
    }
}

extension Scene: SavedItem {
    /// The parts, between separators.
    public var text: String {
        var flags = ""
        if wasConnected { flags += "c" }
        if isWanted { flags += "w" }
        if isClosing { flags += "x" }
        if info != nil { flags += "i" }
        let parts = [
            id.name, role, origin.rawValue, state.rawValue, reason.rawValue, String(since.microseconds),
            lastInForeground.map { String($0.microseconds) } ?? "", desiredReason?.rawValue ?? "", flags, info ?? "",
        ]
        // The text of the app comes last: it may contain separators.
        return parts.joined(separator: String(SavedText.separator))
    }

    /// Creates the value of its text.
    public init?(text: String) {
        let parts = text.words(separator: SavedText.separator, maxSplits: 9)
        guard parts.count == 10, let id = SceneID(parts[0]), SceneID.isWord(parts[1]),
            let origin = Origin(rawValue: parts[2]), let state = SceneState(rawValue: parts[3])
        else { return nil }
        let flags = parts[8].utf8
        let hasFlag = { (flag: Unicode.Scalar) in flags.contains(UInt8(ascii: flag)) }
        let info = hasFlag("i") && parts[9].utf8.count <= Self.infoLimit ? parts[9] : nil
        let since = Instant(microseconds: UInt64(parts[5]) ?? 0)
        self.init(id: id, role: parts[1], info: info, origin: origin, since: since)
        self.state = state
        reason = Reason(saved: parts[4])
        lastInForeground = UInt64(parts[6]).map { Instant(microseconds: $0) }
        desiredReason = parts[7].isEmpty ? nil : Reason(saved: parts[7])
        wasConnected = hasFlag("c")
        isWanted = hasFlag("w")
        isClosing = hasFlag("x")
    }

    /// Adds the parts.
    public func write(to slot: inout SlotWriter) {
        slot.text(id.name)
        slot.text(role)
        slot.text(origin.rawValue)
        slot.text(state.rawValue)
        slot.text(reason.rawValue)
        slot.number(since.microseconds)
        slot.byte((wasConnected ? 1 : 0) | (isWanted ? 2 : 0) | (isClosing ? 4 : 0))
        var (last, desired, info) = (lastInForeground?.microseconds, desiredReason?.rawValue, info)
        slot.number("", &last)
        slot.text("", &desired)
        slot.text("", &info)
    }

    /// Reads the parts.
    public init?(from slot: inout SlotReader) {
        guard let id = slot.text().flatMap({ SceneID($0) }), let role = slot.text(), SceneID.isWord(role),
            let origin: Origin = slot.word(), let state: SceneState = slot.word(), let reason = slot.text(),
            let since = slot.number(), let flags = slot.byte()
        else { return nil }
        var (last, desired, info): (UInt64?, String?, String?)
        slot.number("", &last)
        slot.text("", &desired)
        slot.text("", &info)
        if let text = info, text.utf8.count > Self.infoLimit { info = nil }
        self.init(id: id, role: role, info: info, origin: origin, since: Instant(microseconds: since))
        self.state = state
        self.reason = Reason(saved: reason)
        lastInForeground = last.map { Instant(microseconds: $0) }
        desiredReason = desired.map { Reason(saved: $0) }
        (wasConnected, isWanted, isClosing) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
    }
}

extension SceneState {
    /// Returns the state, or the nearest state that the state of the app allows.
    fileprivate func nearest(in app: AppState) -> SceneState {
        switch (app, self) {
        case (.notRunning, _), (.terminating, _), (_, .unattached): .unattached
        case (.suspended, _): .suspended
        case (_, .suspended), (.background, _): .background
        case (.inactive, .foregroundActive): .foregroundInactive
        case (.inactive, _), (.active, _): self
        }
    }
}
