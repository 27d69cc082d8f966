// The parts of a saved app, each with the table of its type.

extension String: SavedItem {
    /// Writes or reads the text.
    package static func code(_ item: String?, with parts: inout PartCoder) -> String? {
        parts.rest(item)
    }
}

extension AppID: SavedItem {
    /// Writes or reads the name, which is not empty.
    package static func code(_ item: AppID?, with parts: inout PartCoder) -> AppID? {
        let name = parts.rest(item?.name)
        return parts.isReading ? name.flatMap { $0.isEmpty ? nil : AppID($0) } : item
    }
}

extension SceneID: SavedItem {
    /// Writes or reads the name, which is valid.
    package static func code(_ item: SceneID?, with parts: inout PartCoder) -> SceneID? {
        let name = parts.rest(item?.name)
        return parts.isReading ? name.flatMap { SceneID($0) } : item
    }
}

extension ForegroundBlocker: SavedItem {
    /// Writes or reads the word.
    package static func code(
        _ item: ForegroundBlocker?, with parts: inout PartCoder
    ) -> ForegroundBlocker? { parts.word(item) }
}

extension ExitStatus {
    /// Writes or reads the kernel's account of an end: its kind, and its number.
    fileprivate static func code(_ status: ExitStatus?, with parts: inout PartCoder) -> ExitStatus? {
        var (kind, value): (String?, Int32?) = ("unknown", nil)
        if case .code(let code) = status { (kind, value) = ("code", code) }
        if case .signal(let signal) = status { (kind, value) = ("signal", signal) }
        kind = parts.text(kind)
        guard kind == "code" || kind == "signal", let text = parts.text(value.map { String($0) }),
            let number = Int32(text)
        else { return .unknown }
        return kind == "code" ? .code(number) : .signal(number)
    }
}

extension ExitRecord: SavedItem {
    /// Writes or reads the end of an app.
    package static func code(_ item: ExitRecord?, with parts: inout PartCoder) -> ExitRecord? {
        guard let instant = parts.instant(item?.instant), let state = parts.word(item?.state),
            let status = ExitStatus.code(item?.status, with: &parts), let reason = parts.lastReason(item?.reason)
        else { return nil }
        return ExitRecord(state: state, reason: reason, status: status, instant: instant)
    }
}

extension Termination: SavedItem {
    /// Writes or reads an end that has begun.
    package static func code(_ item: Termination?, with parts: inout PartCoder) -> Termination? {
        guard let state = parts.word(item?.state), let status = ExitStatus.code(item?.status, with: &parts),
            let reason = parts.lastReason(item?.reason)
        else { return nil }
        return Termination(state: state, reason: reason, status: status)
    }
}

/// A deadline of an app.
struct SavedDeadline: SavedItem, Equatable {
    let kind: DeadlineKind
    let instant: Instant

    static func code(_ item: SavedDeadline?, with parts: inout PartCoder) -> SavedDeadline? {
        guard let kind = parts.word(item?.kind), let instant = parts.instant(item?.instant)
        else { return nil }
        return SavedDeadline(kind: kind, instant: instant)
    }
}

extension Assertion: SavedItem {
    /// Writes or reads an assertion. The app chooses the name.
    package static func code(_ item: Assertion?, with parts: inout PartCoder) -> Assertion? {
        guard let kind = parts.word(item?.kind), let number = parts.number(item?.number),
            let since = parts.instant(item?.since), let name = parts.rest(item?.name)
        else { return nil }
        return Assertion(kind: kind, number: number, name: name, since: since)
    }
}

extension PendingCallback: SavedItem {
    /// Writes or reads the callback, and its scene if it has one.
    package static func code(
        _ item: PendingCallback?, with parts: inout PartCoder
    ) -> PendingCallback? {
        guard let callback = parts.word(item?.callback) else { return nil }
        var scene = item?.scene
        if parts.isReading || scene != nil { scene = SceneID.code(scene, with: &parts) }
        return callback.needsEvent ? nil : PendingCallback(callback, scene)
    }
}

extension SentCallback: SavedItem {
    /// Writes or reads a resignation behind a callback. The state that follows is that of any resignation, or there is none.
    package static func code(_ item: SentCallback?, with parts: inout PartCoder) -> SentCallback? {
        let delivery = item?.delivery
        guard let sequence = parts.number(delivery?.sequence), let deadline = parts.instant(delivery?.deadline),
            let sent = parts.instant(item?.sent), let state = parts.word(delivery?.state)
        else { return nil }
        let hasNext = parts.number(item?.next == nil ? 0 : 1) == 1
        guard let callback = PendingCallback.code(delivery?.pending, with: &parts), callback.isResignation
        else { return nil }
        let resignation = Delivery(sequence: sequence, pending: callback, state: state, deadline: deadline)
        return SentCallback(delivery: resignation, sent: sent, next: hasNext ? callback.stateAfterResignation : nil)
    }
}

extension NextState {
    /// Writes or reads the state that follows, which is the app's or that of a scene.
    static func code(_ next: NextState?, with coder: inout SavedCoder) -> NextState? {
        var (app, scene): (RunningState?, SceneState?) = (nil, nil)
        switch next {
        case .app(let state): app = state
        case .scene(let state): scene = state
        case nil: break
        }
        coder.word("next", &app)
        coder.word("next-scene", &scene)
        return app.map { .app($0) } ?? scene.map { .scene($0) }
    }
}

extension QueuedEvent: SavedItem {
    /// Writes or reads an event and its number.
    package static func code(_ item: QueuedEvent?, with parts: inout PartCoder) -> QueuedEvent? {
        guard let number = parts.number(item?.number), let callback = parts.word(item?.event.callback),
            let event = AppEvent(callback, parts.texts(item?.event.parts ?? []))
        else { return nil }
        return QueuedEvent(number: number, event: event)
    }
}

extension AppEvent {
    fileprivate var parts: [String] {
        switch self {
        case .openURL(let url, let type, let source): [type ?? "", source ?? "", url]
        case .continueActivity(let type, let info): [type, info]
        case .performTask(let kind, let payload): [kind, payload]
        case .notice: []
        }
    }

    fileprivate init?(_ callback: Callback, _ parts: [String]) {
        let text = { (part: String) in part.isEmpty ? nil : part }
        switch (callback, parts.count) {
        case (.openURL, 3): self = .openURL(parts[2], type: text(parts[0]), source: text(parts[1]))
        case (.continueActivity, 2): self = .continueActivity(type: parts[0], info: parts[1])
        case (.performTask, 2): self = .performTask(kind: parts[0], payload: parts[1])
        case (let callback, 0) where callback.role == .notice: self = .notice(callback)
        default: return nil
        }
    }
}

// MARK: - Scenes

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
    /// Writes or reads a scene.
    package static func code(_ item: Scene?, with parts: inout PartCoder) -> Scene? {
        let name = parts.text(item?.id.name)
        let role = parts.text(item?.role)
        let origin = parts.text(item?.origin.rawValue)
        let state = parts.word(item?.state)
        let reason = parts.text(item?.reason.rawValue)
        let since = parts.instant(item?.since)
        let flags = parts.number(item.map { UInt64(Flags($0).rawValue) }).map {
            Flags(rawValue: UInt8(truncatingIfNeeded: $0))
        }
        let last = parts.instant(item?.lastInForeground)
        let desiredReason = parts.text(item?.desiredReason?.rawValue)
        let info = parts.rest(item?.info)
        guard parts.isReading else { return item }
        guard let id = name.flatMap({ SceneID($0) }), let role, SceneID.isWord(role), let state,
            let origin = origin.flatMap({ Origin(saved: $0) }), let reason, let flags
        else { return nil }
        var scene = Scene(id: id, role: role, info: nil, origin: origin, since: since ?? Instant(microseconds: 0))
        scene.info = info.flatMap { $0.utf8.count <= SceneText.infoLimit ? $0 : nil }
        (scene.state, scene.reason, scene.lastInForeground) = (state, Reason(saved: reason), last)
        scene.desiredReason = desiredReason.map { Reason(saved: $0) }
        scene.wasConnected = flags.contains(.connected)
        scene.isWanted = flags.contains(.wanted)
        scene.isClosing = flags.contains(.closing)
        scene.isEndAwaitedByApp = flags.contains(.endAwaited)
        scene.isSetAside = flags.contains(.setAside)
        return scene
    }

    /// The flags of a scene: bits of a byte.
    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let connected = Flags(rawValue: 1)
        static let wanted = Flags(rawValue: 2)
        static let closing = Flags(rawValue: 4)
        static let endAwaited = Flags(rawValue: 16)
        static let setAside = Flags(rawValue: 32)

        init(rawValue: UInt8) { self.rawValue = rawValue }

        init(_ scene: Scene) {
            self = []
            if scene.wasConnected { insert(.connected) }
            if scene.isWanted { insert(.wanted) }
            if scene.isClosing { insert(.closing) }
            if scene.isEndAwaitedByApp { insert(.endAwaited) }
            if scene.isSetAside { insert(.setAside) }
        }
    }
}

extension Scene.Origin {
    /// Creates the origin of a word in a record.
    fileprivate init?(saved word: String) {
        switch SceneReason(rawValue: word) {
        case .user: self = .user
        case .system: self = .system
        case .app: self = .app
        case .restoration, .closed, .reclaimed, .terminating, nil: return nil
        }
    }
}

// MARK: - Reclaims

extension ReclaimRecord {
    /// Writes or reads an account, or that there is none.
    package static func code(_ account: ReclaimRecord?, with coder: inout SavedCoder) -> ReclaimRecord? {
        guard let cause = coder.item("reclaim-cause", account?.cause) else { return nil }
        let order = coder.list("reclaim-order", account?.order ?? [])
        let candidates = coder.number("reclaim-candidates", account.map { UInt64($0.candidates) })
        let freed = coder.number("reclaim-freed", account?.freed)
        guard coder.isReading else { return account }
        return ReclaimRecord(
            cause: cause, order: order,
            candidates: candidates.map { Int(clamping: $0) } ?? min(order.count, Self.orderLimit), freed: freed)
    }
}

extension ReclaimRecord.Cause: SavedItem {
    /// Writes or reads the kind, and what is known beside it.
    package static func code(_ item: Self?, with parts: inout PartCoder) -> Self? {
        var (kind, shortage, limit): (String?, MemoryShortage?, UInt64?) = (nil, nil, nil)
        switch item {
        case .pressure(let seen): (kind, shortage) = ("pressure", seen)
        case .simulation: kind = "simulation"
        case .suspendedLimit(let number): (kind, limit) = ("suspended-limit", UInt64(clamping: number))
        case nil: break
        }
        kind = parts.text(kind)
        switch kind {
        case "pressure": return MemoryShortage.code(shortage, with: &parts).map { .pressure($0) }
        case "simulation": return .simulation
        case "suspended-limit": return parts.number(limit).map { .suspendedLimit(Int(clamping: $0)) }
        case nil, _?: return nil
        }
    }
}

extension MemoryShortage: SavedItem {
    /// Writes or reads the numbers. An app is ended for its memory at one level only.
    package static func code(_ item: Self?, with parts: inout PartCoder) -> Self? {
        guard let someWaited = parts.number(item?.someWaited), let allWaited = parts.number(item?.allWaited)
        else { return nil }
        var available = item?.available
        if parts.isReading || available != nil { available = parts.number(available) }
        return MemoryShortage(.critical, someWaited: someWaited, allWaited: allWaited, available: available)
    }
}

extension ReclaimRound {
    /// Writes or reads a round, or that there is none.
    static func code(
        _ round: ReclaimRound?, with coder: inout SavedCoder, in apps: AppTable
    ) -> ReclaimRound? {
        guard let victim = coder.item("reclaim-victim", round?.victimID) else { return nil }
        let isEnding = coder.flag("reclaim-ending", round?.phase == .ending)
        let isForAll = coder.flag("reclaim-all", round?.isForAll ?? false)
        let isAboutScenes = coder.flag("reclaim-scenes", round?.isAboutScenes ?? false)
        let account = ReclaimRecord.code(round?.account, with: &coder)
        guard coder.isReading else { return round }
        return account.map {
            ReclaimRound(
                victim: apps.index(of: victim), victimID: victim, account: $0, phase: isEnding ? .ending : .reading,
                isAboutScenes: isAboutScenes, isForAll: isForAll)
        }
    }
}
