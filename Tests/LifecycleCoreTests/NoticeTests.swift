import Testing

@testable import LifecycleCore

/// What an app need not hear, because it is over.
@Suite struct NoticeTests {
    static let main = SceneID(ordinal: 1)
    static let second = SceneID(ordinal: 2)

    static let lists: [([Notice], Int?)] = [
        ([], nil),
        ([Notice(.didBecomeActive)], nil),
        ([Notice(.didBecomeActive), Notice(.willResignActive)], 0),
        ([Notice(.didFinishLaunching), Notice(.didBecomeActive), Notice(.willResignActive)], 1),
        ([Notice(.didBecomeActive), Notice(.didEnterBackground)], nil),
        ([Notice(.didFinishLaunching), Notice(.willResignActive)], nil),
        ([Notice(.willResignActive), Notice(.didBecomeActive)], nil),
        ([Notice(.sceneDidBecomeActive, main), Notice(.sceneWillResignActive, main)], 0),
        ([Notice(.sceneDidBecomeActive, main), Notice(.sceneWillResignActive, second)], nil),
    ]

    @Test(arguments: lists.indices)
    func `a place that is lost again is one that nobody hears of in between`(index: Int) {
        let (notices, place) = Self.lists[index]
        #expect(notices.indexOfLostPlace == place)
    }
}
