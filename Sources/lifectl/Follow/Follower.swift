import ControlAPI

/// Turns what a source sees into what the daemon is asked for. It has no clock and asks nobody itself.
///
/// Only the newest observation counts: what was seen while a call was under way and is over by then has never been.
struct Follower {
    /// One thing to ask the daemon for.
    enum Step: Equatable {
        /// Whose the process is; answered by ``found(_:process:)``.
        case find(process: Int64)
        /// These apps are used in this way; answered by ``told(_:_:)``.
        case use(Use, [String])
        /// The app of the focused window comes to the front.
        case focus(String, Item)
        /// What is in front leaves, and the home app comes.
        case home
        /// Nothing: the focused window is none of an app's.
        case leave(Item)
    }

    private enum Wish: Equatable {
        case focus(String)
        case home
        /// What is in front is nobody's business here.
        case leave
    }

    private enum Owner: Equatable {
        case app(String)
        case nobody
    }

    /// How long nothing has to have the focus before that counts, in microseconds: between two windows there is a moment
    /// without one.
    static let pause: Int64 = 200_000

    private var observation = Observation()
    private var owners: [Item.Key: Owner] = [:]
    /// What the daemon was told of each use.
    private var toldUses: [Use: [String]] = [:]
    /// What was wished for last; nil where nothing was.
    private var wish: Wish?
    /// The app that was brought to the front from here, until it is sent away.
    private var front: String?
    /// Whether a window has had the focus since the source is there. An empty screen at the start sends nobody away: who
    /// is in front may be about to show its first window.
    private var hasSeenFocus = false
    /// When nothing began to have the focus.
    private var emptySince: Int64?

    /// Takes what a source sees now.
    ///
    /// - Parameter now: The time on any clock, in microseconds.
    mutating func see(_ new: Observation, at now: Int64) {
        // Somebody may have adopted it since.
        if let key = new.focusedItem?.key, key != observation.focusedItem?.key, owners[key] == .nobody {
            owners[key] = nil
        }
        if new.focus != .nothing { emptySince = nil } else if emptySince == nil { emptySince = now }
        if new.focusedItem != nil { hasSeenFocus = true }
        observation = new
        let present = Set(new.items.map(\.key))
        owners = owners.filter { present.contains($0.key) }
    }

    /// The source has gone: nothing is used any more, as far as anybody can tell, and what is in front stays there.
    mutating func loseSource(at now: Int64) {
        see(Observation(uses: observation.uses.mapValues { _ in [] }), at: now)
        wish = nil
        hasSeenFocus = false
    }

    /// The daemon has gone, and whoever comes next knows nothing of what was said.
    mutating func loseDaemon() {
        owners = [:]
        toldUses = [:]
        wish = nil
        front = nil
    }

    // MARK: Steps

    /// What to do next; nil while there is nothing to do.
    ///
    /// - Parameter isBusy: Whether a wish is still on its way, so that the next has to wait.
    mutating func next(at now: Int64, isBusy: Bool) -> Step? {
        for item in observation.items where owners[item.key] == nil {
            guard let process = item.key.process else {
                owners[item.key] = .nobody
                continue
            }
            return .find(process: process)
        }
        for (use, items) in observation.uses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let apps = self.apps(of: items)
            if toldUses[use] != apps { return .use(use, apps) }
        }
        return isBusy ? nil : nextWish(at: now)
    }

    /// When to ask again, if nothing else happens before.
    var deadline: Int64? {
        guard let emptySince, hasSeenFocus, wish != .home else { return nil }
        return emptySince + Self.pause
    }

    mutating func found(_ app: String?, process: Int64) {
        for item in observation.items where item.key.process == process {
            owners[item.key] = app.map { .app($0) } ?? .nobody
        }
    }

    mutating func told(_ use: Use, _ apps: [String]) { toldUses[use] = apps }

    private mutating func nextWish(at now: Int64) -> Step? {
        guard let wanted = wanted(at: now), wanted != wish else { return nil }
        wish = wanted
        switch wanted {
        case .leave: return observation.focusedItem.map { .leave($0) }
        case .home:
            front = nil
            return .home
        case .focus(let app):
            front = app
            return observation.focusedItem.map { .focus(app, $0) }
        }
    }

    /// What the newest observation calls for; nil where that is not certain yet.
    private func wanted(at now: Int64) -> Wish? {
        switch observation.focus {
        case .unknown: return .leave
        case .nothing where !hasSeenFocus: return .leave
        case .nothing: return emptySince.map { now >= $0 + Self.pause } ?? true ? .home : nil
        case .item(let item):
            if case .app(let app) = owners[item.key] { return .focus(app) }
            // A window of nobody's does not send away what is beside it, but what is not there any more has left the front.
            guard let front, let visible = observation.uses[.visible] else { return .leave }
            return apps(of: visible).contains(front) ? .leave : .home
        }
    }

    private func apps(of items: [Item]) -> [String] {
        let names = items.compactMap { item in
            if case .app(let app) = owners[item.key] { app } else { nil }
        }
        return Array(Set(names).sorted().prefix(SetInUseParameters.limit))
    }
}
