import ControlAPI
import LifecycleTypes

/// Turns the observations of a source into steps to perform with the daemon. A value without clock and connections.
///
/// Only the newest observation counts.
struct Follower {
    /// One step to perform with the daemon.
    enum Step: Equatable {
        /// Find the app of an item; answered by ``setApp(_:of:)``.
        case find(Item.Key)
        /// Report that these apps are used in this way; answered by ``setReported(_:_:)``.
        case use(Use, [String])
        /// Bring the app of the focused window to the foreground.
        case focus(String, Item)
        /// Bring the home app to the foreground.
        case home
        /// Do nothing, because the focused window belongs to no app.
        case leave(Item)
    }

    private enum Desired: Equatable {
        case focus(String)
        case home
        case leave
    }

    private enum Owner: Equatable {
        case app(String)
        case noApp
    }

    /// The time without focus after which the home app comes, in microseconds: between two windows there is a moment
    /// without focus.
    static let pause: Int64 = 200_000

    private var observation = Observation()
    private var owners: [Item.Key: Owner] = [:]
    /// The apps that were reported for each use.
    private var reportedUses: [Use: [String]] = [:]
    /// The foreground that was requested last; nil before the first request, and after the source or the daemon has gone.
    private var desired: Desired?
    /// The app that was brought to the foreground here, until the home app is.
    private var front: String?
    /// A window has had the focus since the source came. An empty screen at the start leaves the foreground as it is: the
    /// foreground app may be about to show its first window.
    private var hasSeenFocus = false
    /// The instant at which the focus was lost.
    private var emptySince: Int64?

    /// Handles an observation.
    ///
    /// - Parameter now: The time on any clock, in microseconds.
    mutating func observe(_ new: Observation, at now: Int64) {
        // The process of the window may have been adopted since.
        if let key = new.focusedItem?.key, key != observation.focusedItem?.key, owners[key] == .noApp {
            owners[key] = nil
        }
        if new.focus != .nothing { emptySince = nil } else if emptySince == nil { emptySince = now }
        if new.focusedItem != nil { hasSeenFocus = true }
        observation = new
        let present = Set(new.items.map { $0.key })
        owners = owners.filter { present.contains($0.key) }
    }

    /// Handles the end of the source: no app counts as used, and the foreground stays as it is.
    mutating func loseSource(at now: Int64) {
        observe(Observation(uses: observation.uses.mapValues { _ in [] }), at: now)
        desired = nil
        hasSeenFocus = false
    }

    /// Handles that running processes have joined an app: those of the windows without an app are looked up again.
    mutating func noteAdoption() { owners = owners.filter { $0.value != .noApp } }

    /// Handles the end of the daemon: the next daemon does not know the reports.
    mutating func loseDaemon() {
        owners = [:]
        reportedUses = [:]
        desired = nil
        front = nil
    }

    // MARK: Steps

    /// Returns the next step; nil if there is none.
    ///
    /// - Parameter isBusy: A change of the foreground is under way, and the next one has to wait.
    mutating func next(at now: Int64, isBusy: Bool) -> Step? {
        for item in observation.items where owners[item.key] == nil {
            guard item.key.owner != .unknown else {
                owners[item.key] = .noApp
                continue
            }
            return .find(item.key)
        }
        for (use, items) in observation.uses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let apps = self.apps(of: items)
            if reportedUses[use] != apps { return .use(use, apps) }
        }
        return isBusy ? nil : nextForeground(at: now)
    }

    /// The instant at which a step is due without another observation.
    var deadline: Int64? {
        guard let emptySince, hasSeenFocus, desired != .home else { return nil }
        return emptySince + Self.pause
    }

    mutating func setApp(_ app: String?, of key: Item.Key) {
        for item in observation.items where item.key.owner == key.owner {
            owners[item.key] = app.map { .app($0) } ?? .noApp
        }
    }

    mutating func setReported(_ use: Use, _ apps: [String]) { reportedUses[use] = apps }

    private mutating func nextForeground(at now: Int64) -> Step? {
        guard let wanted = desired(at: now), wanted != desired else { return nil }
        desired = wanted
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

    /// Returns the foreground that the newest observation calls for; nil if that is not certain yet.
    private func desired(at now: Int64) -> Desired? {
        switch observation.focus {
        case .unknown: return .leave
        case .nothing where !hasSeenFocus: return .leave
        case .nothing: return emptySince.map { now >= $0 + Self.pause } ?? true ? .home : nil
        case .item(let item):
            if case .app(let app) = owners[item.key] { return .focus(app) }
            // A window of no app leaves the visible foreground app in the foreground; an app without a window leaves it.
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
