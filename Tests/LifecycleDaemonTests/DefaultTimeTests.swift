import Configuration
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct DefaultTimeTests {
    @Test func defaultTimesAreThoseOfTheSpecification() {
        for times in [Settings(DaemonSettings()).timeouts, Settings().timeouts] {
            #expect(times.willResignActive == .seconds(1))
            #expect(times.didEnterBackground == .seconds(5))
            #expect(times.termination == .seconds(5))
            #expect(times.background == .seconds(5))
            #expect(times.task == .seconds(30))
            #expect(times.taskExpiration == .seconds(5))
        }
    }

    @Test func everyConfiguredTimeReachesTheCore() {
        var settings = DaemonSettings()
        settings.timeouts.willResignActive = .seconds(11)
        settings.timeouts.didEnterBackground = .seconds(12)
        settings.timeouts.termination = .seconds(13)
        settings.timeouts.background = .seconds(14)
        settings.timeouts.launch = .seconds(15)
        settings.timeouts.callback = .seconds(16)
        settings.timeouts.task = .seconds(17)
        settings.timeouts.taskExpiration = .seconds(18)
        let times = Settings(settings).timeouts
        let all = [
            times.willResignActive, times.didEnterBackground, times.termination, times.background, times.launch,
            times.callback, times.task, times.taskExpiration,
        ]
        #expect(all == (11...18).map { .seconds($0) })
    }
}
