import Configuration
import Glibc
import LifecycleCore
import Processes
import Simulation
import Testing

@testable import LifecycleDaemon

@Suite struct LaunchRecordTests {
    private var record: SavedRecord {
        var tree = SavedTree(token: .random(), main: ProcessIdentity(pid: 1234, startTime: 99))
        tree.cgroup = "app-a b"
        tree.suspendMethod = .both
        tree.desiredState = .stopped
        tree.stoppedByOthers = [ProcessIdentity(pid: 7, startTime: 8)]
        tree.exitStatus = .killed(by: Signal(rawValue: 11), dumpedCore: true)
        tree.isAdopted = true
        tree.origin = "user.slice/a b"
        tree.owner = TreeOwner(user: 1000)
        tree.escaped = [ProcessIdentity(pid: 9, startTime: 10)]
        tree.signalsForLater = [Signal(rawValue: 1), Signal(rawValue: 10)]
        tree.askedFirst = [ProcessIdentity(pid: 11, startTime: 12)]
        tree.endSignal = Signal(rawValue: 2)
        return LaunchRecord(tree: tree, exitPolicy: .last, isAskedToEnd: true, hasReportedExit: true).saved
    }

    @Test func recordIsRestoredAsSaved() {
        let record = record
        #expect(LaunchRecord(record, desiredState: .stopped)?.saved == record)
    }

    @Test(arguments: ["", ":", "1:2", "0:2", "-5:2", "5", "5:", "5:x", "99999999999:1", "5:-1", "5:1:1"])
    func malformedMainProcessIsRefused(text: String) {
        let fields = record.fields.map { $0.name == "main" ? SavedRecord.Field(name: "main", value: text) : $0 }
        #expect(LaunchRecord(SavedRecord(fields: fields), desiredState: .running) == nil)
    }

    @Test func missingOrMalformedValueNeverTraps() {
        for field in record.fields {
            for value in [nil, "", "x", "-1", "code:", "signal:999999999999", "core:-2147483648", "\u{0}"] {
                var fields = record.fields.filter { $0.name != field.name }
                if let value { fields.append(.init(name: field.name, value: value)) }
                _ = LaunchRecord(SavedRecord(fields: fields), desiredState: .running)
            }
        }
    }

    @Test(arguments: [Int.max, -1]) func malformedCountOfMistakesIsClamped(mistakes: Int) {
        var progress = ChannelProgress()
        progress.mistakes = mistakes
        #expect((0...AppConnection.mistakeLimit).contains(ChannelProgress(progress.saved).mistakes))
    }

    /// A combining accent and the sign before it are one character.
    @Test func adHocAppKeepsTextsThatBeginWithACombiningAccent() throws {
        var definition = AppDefinition(adHoc: ["\u{301}a"], user: .named("\u{301}me"), defaults: Policy())
        definition.environment = ["A": "\u{301}a", "B": "=\u{301}"]
        let saved = definition.saved(AppID("a"))
        let restored = try #require(AppDefinition(saved: saved, defaults: Policy()))
        #expect(restored.user == definition.user)
        #expect(restored.environment == definition.environment)
    }

    /// An app without some of its keys could have more rights than its file or its caller gave it.
    @Test(arguments: [
        "saved.userID = -1", "saved.userID = 4294967296", "saved.userID = 'me'", "saved.groups = ['x']", "user = ''",
        "writablePaths = ['x']", "capabilities = ['x']", "unknown = 1", "no TOML",
    ])
    func definitionWithAMistakeIsNotRestored(line: String) throws {
        func restored(_ text: String) -> AppDefinition? {
            var record = SavedRecord()
            record.add("manifest", text)
            return AppDefinition(saved: record, defaults: Policy())
        }
        #expect(restored("command = ['a']") != nil)
        #expect(restored("command = ['a']\n\(line)") == nil)
    }

    @Test(arguments: ["", "x", "1,2", "-,-"])
    func adHocAppWithAMalformedConfinementGainsNoPrivileges(text: String) throws {
        var definition = AppDefinition(adHoc: ["a"], user: .daemon, defaults: Policy())
        let confinement = try #require(Confinement(of: getpid(), knownAt: Confinement.now))
        definition.callerConfinement = confinement
        let saved = definition.saved(AppID("a"))
        #expect(AppDefinition(saved: saved, defaults: Policy())?.confinement == confinement)
        var damaged = SavedRecord()
        damaged.add("manifest", saved["manifest"]?.replacing(confinement.text, with: text))
        #expect(AppDefinition(saved: damaged, defaults: Policy())?.confinement == .unknown)
    }

    /// The entry may have gone when a daemon restores the app.
    @Test func appOfADesktopEntryIsRestoredAsOne() throws {
        var manifest = Manifest(id: "a", file: "/usr/share/applications/a.desktop", command: ["a", "b"])
        manifest.workingDirectory = "/tmp"
        let definition = AppDefinition(entry: DesktopEntry(manifest: manifest), defaults: Policy())
        let restored = try #require(AppDefinition(saved: definition.saved(AppID("a")), defaults: Policy()))
        #expect(restored.isFromEntry && !restored.isAdHoc)
        #expect(restored.file == manifest.file)
        #expect(restored.command == ["a", "b"])
        // Nothing describes the app any more: it is forgotten with its last process.
        #expect(restored.policy.isTransient)
    }

    /// The manifest may be gone, or broken, when a daemon restores the app.
    @Test func appOfAManifestIsRestoredWithEverythingThatItSays() throws {
        var manifest = Manifest(id: "a", file: "/etc/lifed/apps.d/b.toml", command: ["a", "%u"])
        manifest.name = "Näme"
        manifest.windowClass = "A"
        (manifest.user, manifest.workingDirectory, manifest.environment) = ("me", "/a dir", ["A": "b c"])
        (manifest.suspend, manifest.suspendMethod) = (.never, .both)
        (manifest.stopSignal, manifest.stopMode) = (.quit, .all)
        (manifest.noNewPrivileges, manifest.capabilities) = (true, [.chown, .kill])
        (manifest.writablePaths, manifest.privateTmp) = (["/a b", "/c"], true)
        (manifest.exitPolicy, manifest.callbacks, manifest.control) = (.last, .required, .full)
        manifest.backgroundModes = ["audio", "location"]
        (manifest.backgroundTime, manifest.terminationTimeout) = (.milliseconds(1), .seconds(7200))
        (manifest.launchTimeout, manifest.scenes, manifest.sceneLimit) = (.seconds(3), true, 16)
        (manifest.restart, manifest.onExit, manifest.launchAtStart) = (.always, .previous, .background)
        (manifest.reclaimWhenSuspended, manifest.schemes, manifest.mimeTypes) = (false, ["a", "b"], ["text/a"])
        // A new key needs a value here, and a place in the table.
        let (set, unset) = (Mirror(reflecting: manifest), Mirror(reflecting: Manifest(id: "", file: "", command: [])))
        for (value, initial) in zip(set.children, unset.children) where "\(value.value)" == "\(initial.value)" {
            #expect(value.label == "exec")
        }
        let definition = AppDefinition(manifest: manifest, defaults: Policy())
        let saved = definition.saved(AppID("a"))
        let restored = try #require(AppDefinition(saved: saved, defaults: Policy()))
        #expect(restored.manifest == manifest)
        // Nothing describes the app any more: it is forgotten with its last process.
        var policy = definition.policy
        policy.isTransient = true
        #expect(restored.policy == policy)
        #expect(restored.saved(AppID("a")) == saved)
    }

    @Test func appWithAModelIsRestoredWithThePolicyOfTheModel() throws {
        var manifest = Manifest(id: "a", file: "/etc/lifed/apps.d/a.toml", command: ["a"])
        (manifest.suspend, manifest.stopSignal) = (.never, .interrupt)
        var definition = AppDefinition(adHoc: ["a"], user: .daemon, defaults: Policy())
        definition.model = "a"
        definition.follow(AppDefinition(manifest: manifest, defaults: Policy()))
        let restored = try #require(AppDefinition(saved: definition.saved(AppID("a-2")), defaults: Policy()))
        #expect(restored.policy == definition.policy && restored.stopSignal == .interrupt)
        #expect(restored.isAdHoc && restored.command == ["a"])
    }

    @Test func adHocAppIsRestoredAsSaved() throws {
        var definition = AppDefinition(adHoc: ["/bin/sh", "", "a b\n%"], user: .named("me"), defaults: Policy())
        definition.name = "Näme"
        definition.workingDirectory = "/a dir"
        definition.environment = ["A": "", "B": "x=y", "C": "line\nfeed"]
        let saved = definition.saved(AppID("a"))
        let restored = try #require(AppDefinition(saved: saved, defaults: Policy()))
        #expect(restored.saved(AppID("a")) == saved)
        #expect(restored.command == definition.command)
        #expect(restored.environment == definition.environment)
        // The settings may change before the app is restored.
        var defaults = Policy()
        defaults.timeouts.background = .seconds(60)
        #expect(AppDefinition(saved: saved, defaults: defaults)?.policy.timeouts == defaults.timeouts)
        #expect(AppDefinition(saved: SavedRecord(), defaults: Policy()) == nil)
    }
}
