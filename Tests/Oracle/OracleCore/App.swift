/// What the core knows of one app.
///
/// It is a value, and large, and the machine looks at its apps some hundred times for an input. So its ``Facts`` are in one
/// box, which copies have in common until one of them changes.
@dynamicMemberLookup
public struct App: Sendable, Equatable {
    /// Only facts that one value alone holds are ever written to; that makes them safe to share.
    @usableFromInline final class Box: @unchecked Sendable {
        @usableFromInline var facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    @usableFromInline var box: Box

    init(id: AppID, policy: Policy, since: Instant) {
        box = Box(Facts(id: id, policy: policy, since: since))
    }

    /// What is known of it.
    @inlinable public subscript<Fact>(dynamicMember fact: KeyPath<Facts, Fact>) -> Fact {
        @inline(__always) get { box.facts[keyPath: fact] }
    }

    subscript<Fact>(dynamicMember fact: WritableKeyPath<Facts, Fact>) -> Fact {
        @inline(__always) get { box.facts[keyPath: fact] }
        @inline(__always) _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.facts) }
            yield &box.facts[keyPath: fact]
        }
    }

    /// Whether the same is known of both.
    public static func == (left: App, right: App) -> Bool {
        left.box === right.box || left.box.facts == right.box.facts
    }
}

extension App {
    var hasTasks: Bool { self.holds.contains { $0.kind == .task } }

    /// What it is to open, where its program takes that as an argument: then it is no longer to be told, whatever its
    /// manifest says by now.
    public var argumentURL: String? { self.events.contains { $0.number == self.launchEvent } ? nil : self.launchURL }

    /// Where the next step leads: the target, except that an app which has work to do is not suspended.
    var destination: AppState { self.target == .suspended && (hasWork || hasSceneWork) ? .background : self.target }

    /// Whether it is in the foreground, or it or a scene of it was told that it comes there.
    var isInSight: Bool {
        self.state.isForeground || awaitedCallback == .willEnterForeground || isBringingScene
    }

    private var isBringingScene: Bool {
        if case .answer(_, _, .scene(let next)) = self.awaiting { next.isForeground } else { false }
    }

    /// Whether it has a process, or is getting one.
    public var isRunning: Bool { self.state != .notRunning || isSpawning }

    /// Whether its program is being started.
    public var isSpawning: Bool {
        if case .spawn = self.awaiting { true } else { false }
    }

    /// Whether its processes are stopped, or are to be.
    public var isStoppedOrStopping: Bool {
        self.awaiting == .stop || (self.state == .suspended && self.awaiting != .resume)
    }

    /// Whether it has a program that should be running at this moment.
    public var isToRunNow: Bool { self.state.isAlive && !isStoppedOrStopping && self.awaiting != .resume }

    /// Whether it may go on: it has answered the launch callbacks, or need not.
    var isReady: Bool { self.hasLaunched || self.policy.callbacks != .required }

    /// Whether it has answered everything that it has to be told.
    var hasHeardAll: Bool { self.owed.isEmpty && awaitedCallback == nil }

    /// Why it ends, when its main process has ended with this status and nobody had sent a signal yet.
    func endReason(_ status: ExitStatus) -> Reason {
        if case .end = self.wish { return self.wishReason }
        return status == .code(0) ? .exit : .crash
    }

    /// Whether it is giving up its place among the active apps: it, or the last of its scenes that is active, has been
    /// told, and has not answered yet.
    var isResigning: Bool {
        if hasScenes, self.scenes.activeCount > 0 {
            return self.scenes.all.allSatisfy { $0.state != .foregroundActive || isResigning($0.id) }
        }
        return isResigning(nil)
    }

    /// A Boolean value that indicates whether the app has an unanswered resignation of this scene, or, without a scene, of itself.
    func isResigning(_ scene: SceneID?) -> Bool {
        let isMeant = { (notice: Notice) in notice.isResignation && notice.scene == scene }
        return awaitedNotice.map(isMeant) ?? false || self.resignations.contains { isMeant($0.delivery.notice) }
    }

    /// The next resignation that the app has to be sent: of itself, or of one of its active scenes.
    var dueResignation: Notice? {
        guard self.isLinked, !self.isAway else { return nil }
        guard hasScenes else {
            let isDue = self.state == .active && destination != .active && !isResigning(nil)
            return isDue ? Notice(.willResignActive) : nil
        }
        let scene = self.scenes.all.first {
            $0.state == .foregroundActive && sceneTarget(of: $0) != .foregroundActive && !isResigning($0.id)
        }
        return scene.map { Notice(.sceneWillResignActive, $0.id) }
    }

    /// The callback that it has not answered yet.
    public var awaitedCallback: Callback? {
        if case .answer(let delivery, _, _) = self.awaiting { delivery.callback } else { nil }
    }

    /// What it has not answered yet.
    var awaitedNotice: Notice? {
        if case .answer(let delivery, _, _) = self.awaiting { delivery.notice } else { nil }
    }

    /// Whether what it has not answered yet is an event.
    var awaitsEvent: Bool {
        if case .answer(let delivery, _, _) = self.awaiting { delivery.event != nil } else { false }
    }
}

extension App {
    /// A callback as the app is told of it.
    func delivery(of notice: Notice, sequence: UInt64, deadline: Instant, state: AppState) -> Delivery {
        var delivery = Delivery(sequence: sequence, callback: notice.callback, deadline: deadline, state: state)
        switch notice.callback {
        case .willFinishLaunching, .didFinishLaunching:
            delivery.launch = Launch(reason: self.launchReason, previous: self.lastExit, url: self.launchURL)
        case .didEnterBackground: delivery.taskTime = self.policy.timeouts.task
        // It runs when the last of them has left.
        case .sceneDidEnterBackground where state == .background: delivery.taskTime = self.policy.timeouts.task
        default: break
        }
        delivery.scene = notice.scene.map { SceneNews(scene: $0, reason: reasonToTell(notice.callback, of: $0)) }
        return delivery
    }
}

/// What somebody wants of an app.
enum Wish: Sendable, Equatable {
    /// Nothing: it need not run.
    case rest
    /// That it runs, in front or not.
    case run
    /// That it ends; asked first, or at once.
    case end(atOnce: Bool)
}

/// The one thing that an app's next step waits for.
enum Awaiting: Sendable, Equatable {
    /// The outcome of spawn; the state that follows.
    case spawn(to: AppState)
    /// The answer to a callback; when it was sent, and the state that follows the answer, if one does.
    case answer(Delivery, sent: Instant, to: Arrival?)
    /// That every process is stopped.
    case stop
    /// That every process is continued.
    case resume
    /// That every process is gone.
    case end
}

/// A callback that asks the app, or one of its scenes, to stop being active, sent behind an unanswered callback.
struct Resignation: Sendable, Equatable {
    var delivery: Delivery
    /// When it was sent.
    var sent: Instant
    /// The state that follows the answer; nil when the app has left its place without it.
    var arrival: Arrival?
}

/// How an app's end began.
struct Ending: Sendable, Equatable {
    var state: AppState
    var reason: Reason
    var status = ExitStatus.unknown
}
