import Configuration
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct AppDefinitionsTests {
    func manifest(_ id: String, suspend: SuspensionPolicy = .auto) -> Manifest {
        var manifest = Manifest(id: id, file: "/etc/\(id).toml", command: ["true"])
        manifest.suspend = suspend
        return manifest
    }

    @Test(arguments: [
        (["/usr/bin/foot"], "foot"), (["sh", "-c", "x"], "sh"), (["/opt/My App!/Öl"], "l"), (["..."], "app"),
        (["-x"], "x"), ([String(repeating: "a", count: 300)], String(repeating: "a", count: 100)),
    ])
    func adHocAppIsNamedAfterItsProgram(command: [String], name: String) {
        let id = AppDefinitions().freeID(for: command)
        #expect(id.name == name)
        #expect(AppIdentifier.isValid(id.name))
    }

    @Test func secondAppOfANameHasANumber() {
        var definitions = AppDefinitions()
        for expected in ["sh", "sh-2", "sh-3"] {
            let id = definitions.freeID(for: ["sh"])
            #expect(id.name == expected)
            definitions.insert(AppDefinition(adHoc: ["sh"], user: .daemon, defaults: Policy()), as: id)
        }
    }

    @Test func manifestsAreReplacedAndAdHocAppsStayWithNewDefaults() {
        var definitions = AppDefinitions()
        #expect(definitions.apply([manifest("a"), manifest("b")], defaults: Policy()) == [])
        definitions.insert(AppDefinition(adHoc: ["sh"], user: .daemon, defaults: Policy()), as: AppID("sh"))
        var defaults = Policy()
        defaults.timeouts.background = .zero
        #expect(definitions.apply([manifest("b", suspend: .never)], defaults: defaults) == [AppID("a")])
        #expect(definitions[AppID("b")]?.policy.suspend == .never)
        #expect(definitions[AppID("sh")]?.policy.timeouts.background == .zero)
        #expect(definitions[AppID("sh")]?.policy.isTransient == true)
    }

    @Test func adoptedAppFollowsItsManifestWithoutScenesAndRestartUntilItEnds() {
        var definitions = AppDefinitions()
        var viewer = manifest("viewer")
        (viewer.restart, viewer.callbacks, viewer.scenes) = (.always, .required, true)
        _ = definitions.apply([viewer], defaults: Policy())
        let id = AppID("viewer")
        definitions.beginAdoption(of: id)
        definitions.beginAdoption(of: id)
        viewer.suspend = .never
        #expect(definitions.apply([viewer], defaults: Policy()) == [])
        #expect(definitions[id]?.isAdopted == true)
        #expect(definitions[id]?.policy.suspend == .never)
        #expect(definitions[id]?.policy.isAdopted == true)
        #expect(definitions[id]?.policy.callbacks == .auto)
        #expect(definitions[id]?.policy.scenes == false)
        let definition = definitions.endAdoption(of: id)
        #expect(definition?.policy == definitions[id]?.policy)
        #expect(definitions[id]?.isAdopted == false)
        #expect(definitions[id]?.policy.callbacks == .required)
        #expect(definitions.endAdoption(of: id) == nil)
    }

    @Test func appWithAModelFollowsTheManifestOfTheModel() throws {
        var definitions = AppDefinitions()
        _ = definitions.apply([manifest("viewer", suspend: .never)], defaults: Policy())
        var second = AppDefinition(adHoc: ["viewer"], user: .daemon, defaults: Policy())
        second.model = "viewer"
        second.follow(try #require(definitions[AppID("viewer")]))
        definitions.insert(second.adopted, as: AppID("viewer-2"))
        #expect(definitions[AppID("viewer-2")]?.policy.suspend == .never)
        _ = definitions.apply([manifest("viewer")], defaults: Policy())
        let policy = try #require(definitions[AppID("viewer-2")]?.policy)
        #expect(policy.suspend == .auto)
        #expect(policy.isTransient && policy.isAdopted)
        let saved = try #require(definitions[AppID("viewer-2")]).saved(AppID("viewer-2"))
        let restored = try #require(AppDefinition(saved: saved, defaults: Policy()))
        #expect(restored.isAdopted && restored.policy.isAdopted)
        #expect(restored.model == "viewer")
    }

    private func entry(_ id: String) -> AppDefinition {
        AppDefinition(entry: DesktopEntry(manifest: manifest(id)), defaults: Policy())
    }

    @Test func appOfADesktopEntryStaysWithTheEntryAndGivesWayToAManifest() {
        var definitions = AppDefinitions()
        for id in ["stays", "goes", "described"] { definitions.insert(entry(id), as: AppID(id)) }
        var again = entry("stays")
        again.command = ["another"]
        let gone = definitions.apply(
            [manifest("described")], defaults: Policy(), entry: { $0.name == "stays" ? again : nil })
        #expect(gone == [AppID("goes")])
        #expect(definitions[AppID("stays")]?.command == ["another"])
        #expect(definitions[AppID("stays")]?.isFromEntry == true)
        #expect(definitions[AppID("described")]?.isFromEntry == false)
    }

    @Test func timesOfAManifestReplaceTheDefaults() {
        var manifest = manifest("a")
        manifest.terminationTimeout = .seconds(15)
        let policy = AppDefinition(manifest: manifest, defaults: Policy()).policy
        #expect(policy.timeouts.termination == .seconds(15))
        #expect(policy.timeouts.didEnterBackground == .seconds(5))
    }
}
