import LifecycleTypes
import TestSupport
import Testing

@testable import Configuration

/// The files in `config/`, as `make install` copies them.
@Suite struct ShippedFileTests {
    private static let directory = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/config"

    private func read(_ name: String) throws -> String {
        guard case .text(let text)? = try TextFile.read("\(Self.directory)/\(name)") else {
            Issue.record("\(name) is missing or empty")
            return ""
        }
        return text
    }

    /// The keys that are commented out are those whose `#` touches them.
    private func uncommented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in line.hasPrefix("#") && line.dropFirst().first?.isLetter == true ? line.dropFirst() : line }
            .joined(separator: "\n")
    }

    @Test func aFreshInstallationIsTheDefaults() throws {
        let loader = ConfigurationLoader(directories: [Self.directory], instance: .system, searchPath: "")
        #expect(try loader.load() == LoadedConfiguration())
    }

    @Test func settingsShowEveryKeyWithItsDefault() throws {
        let document = try TOMLDocument(uncommented(try read("lifed.toml")))
        var settings = DaemonSettings()
        settings.foregroundLimit = 0
        let timeouts: [WritableKeyPath<DaemonSettings, Duration>] = [
            \.timeouts.willResignActive, \.timeouts.didEnterBackground, \.timeouts.termination, \.timeouts.background,
            \.timeouts.launch, \.timeouts.callback, \.timeouts.suspension,
        ]
        for timeout in timeouts { settings[keyPath: timeout] = .zero }
        settings.memory.warning = 0
        settings.memory.critical = 0
        settings.limits.processes = .unlimited
        settings.memory.window = .zero
        settings.memory.minimumAvailable = 0
        settings.memory.suspendedLimit = 1
        settings.memory.reclaimWhenSuspended = true
        let states: [WritableKeyPath<DaemonSettings, DaemonSettings.Resources.State>] = [
            \.resources.active, \.resources.inactive, \.resources.background, \.resources.suspended,
        ]
        for state in states { settings[keyPath: state] = Self.strange }
        let outcome = DaemonSettings.schema.apply(document, of: "lifed.toml", to: &settings)
        #expect(outcome.problems == [])
        // Tables that are not there by default: they are shown in words.
        #expect(Set(outcome.accepted) == Set(DaemonSettings.schema.keys.map(\.path)).subtracting([["adopt"]]))

        // The home app has no default; the file shows an example.
        #expect(settings.homeApp != nil)
        settings.homeApp = nil
        settings.defaults = [:]
        #expect(settings == DaemonSettings())
    }

    /// What no state has.
    private static let strange: DaemonSettings.Resources.State = {
        var state = DaemonSettings.Resources.State()
        state.cpuWeight = 1
        state.ioWeight = 1
        state.memoryLow = 1
        state.nice = 1
        state.ioPriority = .realTime(0)
        state.oomScoreAdjustment = 1
        state.timerSlack = .seconds(1)
        return state
    }()

    @Test func samplesAreManifests() throws {
        let directory = try TemporaryDirectory()
        for program in ["foot", "firefox-esr"] { try directory.makeProgram("bin/\(program)") }
        let mpd = try directory.makeProgram("bin/mpd")
        let samples = try #require(try Directory.names(in: "\(Self.directory)/apps.d", endingIn: ".toml.sample"))
        for sample in samples {
            let text = try read("apps.d/\(sample)").replacing("\"/usr/bin/mpd\"", with: "\"\(mpd)\"")
                .replacing("user = \"mpd\"", with: "user = \"nobody\"")
            try directory.write(text, to: "apps.d/\(sample.dropLast(".sample".count))")
        }
        let configuration = try directory.load(searchPath: "\(directory.path)/bin")
        #expect(directory.problems(configuration) == [])
        #expect(configuration.manifests.count == samples.count)
    }
}
