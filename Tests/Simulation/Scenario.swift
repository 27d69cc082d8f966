package import LifecycleCore

/// One history: who is there, and what happens to them when. The same scenario goes the same way each time.
package struct Scenario: Sendable {
    package var setup: Setup
    package var steps: [Step]
}

/// The apps of the scenario.
package struct Setup: Sendable {
    package var settings = Settings()
    package var apps: [AppSetup] = []
    package var deaths = Deaths.none
    /// A Boolean value that indicates whether the kernel is slow and other users interfere.
    package var hasFaults = false
}

/// One app, and how it behaves.
package struct AppSetup: Sendable {
    package let id: AppID
    package var policy = Policy()
    package var manner = Manner.good
}

/// The way in which an app answers callbacks.
package enum Manner: String, Sendable, CaseIterable {
    /// It listens from the beginning, and answers within milliseconds.
    case good
    /// It takes its time, often more than it has.
    case slow
    /// It says what is wrong, twice, or at the wrong time.
    case wrong
    /// It listens, and answers nothing, or only some things.
    case silent
    /// It begins to listen seconds after it was started.
    case late
    /// It never listens.
    case deaf
}

/// What becomes of the daemon itself.
package enum Deaths: String, Sendable, CaseIterable {
    /// It lives.
    case none
    /// It is killed at times; its channels are kept for the next daemon.
    case channelsKept = "channels kept"
    /// It is killed at times, and its apps have to come back.
    case channelsLost = "channels lost"
}

/// Something that happens.
package struct Step: Sendable {
    /// The time that after the step before.
    package var pause: Duration
    package var action: Action
    /// What chance makes of it and of all that follows until the next step, so that a step that is left out changes as
    /// little as possible for the others.
    package var seed: UInt64
}

/// What happens.
package enum Action: Sendable {
    /// A client makes a request.
    case ask(Request)
    case pressure(MemoryLevel)
    /// A client reports which apps are visible, or play.
    case use(Use, [AppID])
    /// An app begins something, ends something, or stops listening.
    case beginTask(AppID, UInt64)
    case beginActivity(AppID, UInt64)
    case endAssertion(AppID)
    case close(AppID)
    /// An app wants something with a scene.
    case say(AppID, AppMessage)
    /// The main process of an app ends by itself.
    case exit(AppID, ExitStatus, othersLeft: Bool)
    /// Another program kills the keeper of an app.
    case killKeeper(AppID)
    /// Another program sends SIGCONT or SIGSTOP.
    case foreignContinue(AppID)
    case foreignStop(AppID)
    /// The configuration is read again.
    case configure(Settings)
    case define(AppID, Policy)
    case forget(AppID)
    /// A client has the daemon adopt a program that runs.
    case adopt(AppID, background: Bool)
    /// The daemon is killed, after it has done this share of the effects of the next input, and is gone for some time.
    case killDaemon(afterPercent: Int, downtime: Duration)
    case shutDown
}
