import Configuration
import LifecycleCore
import Processes
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct StateResourcesTests {
    @Test func valueThatTheDaemonMayNotSetIsReportedOnce() throws {
        try withTemporaryDirectory { (root: String) throws in
            let journal = RecordingJournal()
            let launcher = AppLauncher(
                isSystem: false, stateDirectory: root + "/state", appSocket: root + "/channel",
                environment: AppEnvironment(daemon: [:]), usesJournal: false, descriptorLimit: nil)
            let manager = try AppManager(
                events: Events(), launcher: launcher, store: try StateLog(), entries: nil, log: journal)
            var profile = ResourceProfile()
            (profile.nice, profile.ioPriority, profile.oomScoreAdjustment) = (-20, .realTime(0), -1000)
            let refused = ResourceCapabilities(cgroups: nil).refused(profile)
            let expected = refused.map { key, cause in
                "cannot set resources.inactive.\(key): \(cause); leaving the app's own value"
            }
            var configuration = try ConfigurationLoader(directories: [root], instance: .user, searchPath: nil).load()
            configuration.settings.resources.inactive.nice = -20
            configuration.settings.resources.inactive.ioPriority = .realTime(0)
            configuration.settings.resources.inactive.oomScoreAdjustment = -1000
            manager.apply(configuration.settings)
            manager.setCgroups(nil)
            let messages = { journal.entries.map(\.message).filter { $0.hasPrefix("cannot set ") } }
            #expect(messages() == expected)
            configuration.settings.resources.active = configuration.settings.resources.inactive
            manager.apply(configuration.settings)
            #expect(messages().count == 2 * expected.count)
            configuration.settings.resources.active.cpuWeight = 7
            manager.apply(configuration.settings)
            #expect(messages().count == 2 * expected.count)
        }
    }
}
