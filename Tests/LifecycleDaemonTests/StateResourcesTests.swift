import Configuration
import LifecycleCore
import Processes
import Systemd
import Testing

@testable import LifecycleDaemon

@Suite struct StateResourcesTests {
    @Test func valueThatTheDaemonMayNotSetIsReportedOnce() throws {
        let journal = RecordingJournal()
        let core = try CoreDriver.knowing(in: Events())
        let processes = try AppProcesses(core: core, table: ProcessTable(), log: journal)
        let resources = try StateResources(core: core, processes: processes, log: journal)
        var profile = ResourceProfile()
        (profile.nice, profile.ioPriority, profile.oomScoreAdjustment) = (-20, .realTime(0), -1000)
        let refused = ResourceCapabilities(cgroups: nil).refused(profile)
        let expected = refused.map { key, cause in
            "cannot set resources.inactive.\(key): \(cause); leaving the app's own value"
        }
        var settings = DaemonSettings().resources
        settings.inactive.nice = -20
        settings.inactive.ioPriority = .realTime(0)
        settings.inactive.oomScoreAdjustment = -1000
        resources.apply(settings, processes: .unlimited)
        let messages = { journal.entries.map(\.message).filter { $0.hasPrefix("cannot set ") } }
        #expect(messages() == expected)
        settings.active = settings.inactive
        resources.apply(settings, processes: .unlimited)
        #expect(messages().count == 2 * expected.count)
        settings.active.cpuWeight = 7
        resources.apply(settings, processes: .unlimited)
        #expect(messages().count == 2 * expected.count)
    }
}
