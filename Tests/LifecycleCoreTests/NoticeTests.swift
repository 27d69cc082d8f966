import Testing

@testable import LifecycleCore

/// What an app need not hear, because it is over.
@Suite struct NoticeTests {
    static let main = SceneID(ordinal: 1)
    static let second = SceneID(ordinal: 2)

    /// What an app is to hear, and what is left of it.
    static let lists: [([Notice], [Notice])] = [
        ([], []),
        ([Notice(.didBecomeActive)], [Notice(.didBecomeActive)]),
        ([Notice(.didBecomeActive), Notice(.willResignActive)], []),
        (
            [Notice(.didFinishLaunching), Notice(.didBecomeActive), Notice(.willResignActive)],
            [Notice(.didFinishLaunching)]
        ),
        (
            [Notice(.didBecomeActive), Notice(.didEnterBackground)],
            [Notice(.didBecomeActive), Notice(.didEnterBackground)]
        ),
        (
            [Notice(.didFinishLaunching), Notice(.willResignActive)],
            [Notice(.didFinishLaunching), Notice(.willResignActive)]
        ),
        (
            [Notice(.willResignActive), Notice(.didBecomeActive)],
            [Notice(.willResignActive), Notice(.didBecomeActive)]
        ),
        ([Notice(.sceneDidBecomeActive, main), Notice(.sceneWillResignActive, main)], []),
        (
            [Notice(.sceneDidBecomeActive, main), Notice(.sceneWillResignActive, second)],
            [Notice(.sceneDidBecomeActive, main), Notice(.sceneWillResignActive, second)]
        ),
        (
            [
                Notice(.sceneDidBecomeActive, main), Notice(.sceneWillEnterForeground, second),
                Notice(.sceneDidBecomeActive, second), Notice(.sceneWillResignActive, main),
                Notice(.sceneWillResignActive, second),
            ],
            [Notice(.sceneWillEnterForeground, second)]
        ),
        (
            [
                Notice(.sceneDidBecomeActive, main), Notice(.sceneDidDisconnect, main),
                Notice(.sceneWillResignActive, main),
            ],
            [
                Notice(.sceneDidBecomeActive, main), Notice(.sceneDidDisconnect, main),
                Notice(.sceneWillResignActive, main),
            ]
        ),
    ]

    @Test(arguments: lists.indices)
    func `a place that is lost again is one that nobody hears of in between`(index: Int) {
        var (notices, left) = Self.lists[index]
        notices.removeLostPlaces()
        #expect(notices == left)
    }
}
