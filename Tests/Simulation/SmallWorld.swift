import LifecycleCore

/// A world small enough to be explored: two apps, and what may be wanted of them.
package struct SmallWorld: Sendable {
    package let name: String
    package let setup: Setup
    package let commands: [Action]

    package static let all: [SmallWorld] = [
        SmallWorld(name: "both connected", second: .good), SmallWorld(name: "one not connected", second: .deaf),
        SmallWorld(name: "one is at home", second: .good, home: AppID("a")),
        SmallWorld(name: "two places", second: .good, places: 2),
        SmallWorld(name: "one has scenes", second: .good, hasScenes: true),
    ]

    private init(name: String, second: Manner, home: AppID? = nil, places: Int = 1, hasScenes: Bool = false) {
        let (a, b) = (AppID("a"), AppID("b"))
        self.name = name
        var setup = Setup()
        setup.apps = [AppSetup(id: a), AppSetup(id: b, manner: second)]
        setup.settings.homeApp = home
        setup.settings.foregroundLimit = places
        setup.apps[0].policy.scenes = hasScenes
        self.setup = setup
        let scenes: [Action] = [
            .ask(.openScene(a, SceneOpening(), background: false)),
            .ask(.openScene(a, SceneOpening(), background: true)),
            .ask(.focusScene(a, Scenario.sceneNames[0])), .ask(.backgroundScene(a, Scenario.sceneNames[0])),
            .ask(.closeScene(a, Scenario.sceneNames[0])), .ask(.memoryPressure(.critical, all: false)),
        ]
        let always: [Action] = [
            .ask(.launch(a, background: false)), .ask(.launch(b, background: false)),
            .ask(.launch(b, background: true)),
            .ask(.home), .ask(.background(a)), .ask(.suspend(a)), .ask(.resume(a)), .ask(.terminate(a)), .ask(.kill(b)),
            .ask(.restart(a)),
            .ask(.suspend(a, now: true)), .beginTask(a, 1),
            .ask(.beginInterruption("call")), .ask(.endInterruption("call", answer: b)),
            .ask(.machine(.lock)), .ask(.deliver(b, .openURL("u:1"))),
        ]
        commands = (hasScenes ? scenes : []) + always
    }
}
