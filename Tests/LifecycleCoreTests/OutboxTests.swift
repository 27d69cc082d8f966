import Testing

@testable import LifecycleCore

/// The callbacks that an app need not be sent, because a later one cancels them.
@Suite struct OutboxTests {
    static let main = SceneID(ordinal: 1)
    static let second = SceneID(ordinal: 2)

    /// The pending callbacks, and those that are left.
    static let lists: [([PendingCallback?], [PendingCallback?])] = [
        ([], []),
        ([PendingCallback(.didBecomeActive)], [PendingCallback(.didBecomeActive)]),
        ([PendingCallback(.didBecomeActive), PendingCallback(.willResignActive)], []),
        (
            [
                PendingCallback(.didFinishLaunching), PendingCallback(.didBecomeActive),
                PendingCallback(.willResignActive),
            ],
            [PendingCallback(.didFinishLaunching)]
        ),
        (
            [PendingCallback(.didBecomeActive), PendingCallback(.didEnterBackground)],
            [PendingCallback(.didBecomeActive), PendingCallback(.didEnterBackground)]
        ),
        (
            [PendingCallback(.didFinishLaunching), PendingCallback(.willResignActive)],
            [PendingCallback(.didFinishLaunching), PendingCallback(.willResignActive)]
        ),
        (
            [PendingCallback(.willResignActive), PendingCallback(.didBecomeActive)],
            [PendingCallback(.willResignActive), PendingCallback(.didBecomeActive)]
        ),
        ([PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneWillResignActive, main)], []),
        (
            [PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneWillResignActive, second)],
            [PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneWillResignActive, second)]
        ),
        (
            [
                PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneWillEnterForeground, second),
                PendingCallback(.sceneDidBecomeActive, second), PendingCallback(.sceneWillResignActive, main),
                PendingCallback(.sceneWillResignActive, second),
            ],
            [PendingCallback(.sceneWillEnterForeground, second)]
        ),
        (
            [
                PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneDidDisconnect, main),
                PendingCallback(.sceneWillResignActive, main),
            ],
            [
                PendingCallback(.sceneDidBecomeActive, main), PendingCallback(.sceneDidDisconnect, main),
                PendingCallback(.sceneWillResignActive, main),
            ]
        ),
    ]

    @Test(arguments: lists.indices)
    func activationThatItsOwnResignationFollowsIsNotSent(index: Int) {
        let (callbacks, left) = Self.lists[index]
        var outbox = Outbox()
        outbox.callbacks = callbacks.compactMap { $0 }
        #expect(outbox.callbacks.count == callbacks.count)
        outbox.removeStaleActivations()
        #expect(outbox.callbacks == left)
    }

    @Test func callbackHasASceneExactlyIfItIsAboutOne() {
        for callback in Callback.allCases {
            #expect((PendingCallback(callback) == nil) == callback.rawValue.hasPrefix("scene-"))
            #expect((PendingCallback(callback, Self.main) != nil) == callback.rawValue.hasPrefix("scene-"))
        }
    }
}
