@testable import LifecycleCore

/// Scenes come and go, by everybody's wish.
extension Simulation {
    static let sceneNames = ["main", "scene-2", "left", "right"].compactMap { SceneID($0) }

    mutating func randomSceneRequest(_ id: AppID) {
        guard let scene = Self.sceneNames.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            let opening = SceneOpening(scene: chance(60) ? scene : nil, info: chance(50) ? "{\(requests)}" : nil)
            ask(.openScene(id, opening, background: chance(40)))
        case 3..<6: ask(.focusScene(id, scene))
        case 6..<8: ask(.backgroundScene(id, scene))
        default: ask(.closeScene(id, scene))
        }
    }

    /// What an app itself wants.
    mutating func randomSceneMessage(_ id: AppID) {
        guard canSpeak(id), let scene = Self.sceneNames.randomElement(using: &random) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0..<2: give(.message(id, .openScene(chance(50) ? scene : nil, role: nil, info: nil)))
        case 2: give(.message(id, .closeScene(scene)))
        default: give(.message(id, .sceneInfo(scene, chance(80) ? "{}" : nil)))
        }
    }

    /// What must hold of scenes after every input.
    mutating func checkScenes() {
        for app in core.knownApps.values {
            if let problem = app.sceneProblem { problems.append("\(app.id) \(app.state): \(problem)") }
        }
    }

    /// Left alone, every scene is where it should be.
    mutating func expectScenesAtRest() {
        for app in core.knownApps.values {
            for scene in app.scenes.all where scene.state != app.sceneTarget(of: scene) && app.isRunning {
                problems.append("\(app.id)/\(scene.id) is \(scene.state), not \(app.sceneTarget(of: scene))")
            }
        }
    }
}

extension App {
    fileprivate var sceneProblem: String? {
        let states = self.scenes.all.map(\.state)
        if self.scenes.all.count > Scenes.limit + 1 { return "\(self.scenes.all.count) scenes" }
        if Set(self.scenes.all.map(\.id)).count < self.scenes.all.count { return "two scenes of one name" }
        if self.scenes.front.contains(where: { self.scenes[$0] == nil }) { return "in front is what is not there" }
        if self.scenes.activeCount > self.policy.sceneLimit { return "\(self.scenes.activeCount) active scenes" }
        guard hasScenes else { return states.allSatisfy { $0 == .unattached } ? nil : "scenes \(states)" }
        return isConsistent(with: states) ? nil : "scenes \(states)"
    }

    /// The app's state is a function of its scenes'; but it is inactive, too, while it launches or ends and has none.
    private func isConsistent(with states: [SceneState]) -> Bool {
        switch self.state {
        case .notRunning, .terminating: states.allSatisfy { $0 == .unattached }
        case .active: states.contains(.foregroundActive) && !states.contains(.suspended)
        case .inactive: !states.contains(.foregroundActive) && !states.contains(.suspended)
        case .background: states.allSatisfy { $0 == .background || $0 == .unattached }
        case .suspended: states.allSatisfy { $0 == .suspended || $0 == .unattached }
        }
    }
}
