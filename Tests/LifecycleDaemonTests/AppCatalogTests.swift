import Configuration
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct AppCatalogTests {
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
        let id = AppCatalog().freeID(for: command)
        #expect(id.name == name)
        #expect(AppIdentifier.isValid(id.name))
    }

    @Test func secondAppOfANameHasANumber() {
        var catalog = AppCatalog()
        for expected in ["sh", "sh-2", "sh-3"] {
            let id = catalog.freeID(for: ["sh"])
            #expect(id.name == expected)
            catalog.insert(AppDefinition(adHoc: ["sh"], user: .daemon, defaults: Policy()), as: id)
        }
    }

    @Test func manifestsAreReplacedAndAdHocAppsStayWithNewDefaults() {
        var catalog = AppCatalog()
        #expect(catalog.apply([manifest("a"), manifest("b")], defaults: Policy()) == [])
        catalog.insert(AppDefinition(adHoc: ["sh"], user: .daemon, defaults: Policy()), as: AppID("sh"))
        var defaults = Policy()
        defaults.timeouts.background = .zero
        #expect(catalog.apply([manifest("b", suspend: .never)], defaults: defaults) == [AppID("a")])
        #expect(catalog[AppID("b")]?.policy.suspend == .never)
        #expect(catalog[AppID("sh")]?.policy.timeouts.background == .zero)
        #expect(catalog[AppID("sh")]?.policy.isTransient == true)
    }

    @Test func adoptedAppFollowsItsManifestWithoutScenesAndRestartUntilItEnds() {
        var catalog = AppCatalog()
        var viewer = manifest("viewer")
        (viewer.restart, viewer.callbacks, viewer.scenes) = (.always, .required, true)
        _ = catalog.apply([viewer], defaults: Policy())
        let id = AppID("viewer")
        catalog.beginAdoption(of: id)
        catalog.beginAdoption(of: id)
        viewer.suspend = .never
        #expect(catalog.apply([viewer], defaults: Policy()) == [])
        #expect(catalog[id]?.isAdopted == true)
        #expect(catalog[id]?.policy.suspend == .never)
        #expect(catalog[id]?.policy.isAdopted == true)
        #expect(catalog[id]?.policy.callbacks == .auto)
        #expect(catalog[id]?.policy.scenes == false)
        let definition = catalog.endAdoption(of: id)
        #expect(definition?.policy == catalog[id]?.policy)
        #expect(catalog[id]?.isAdopted == false)
        #expect(catalog[id]?.policy.callbacks == .required)
        #expect(catalog.endAdoption(of: id) == nil)
    }

    @Test func appWithAModelFollowsTheManifestOfTheModel() throws {
        var catalog = AppCatalog()
        _ = catalog.apply([manifest("viewer", suspend: .never)], defaults: Policy())
        var second = AppDefinition(adHoc: ["viewer"], user: .daemon, defaults: Policy())
        second.model = "viewer"
        second.follow(try #require(catalog[AppID("viewer")]))
        catalog.insert(second.adopted, as: AppID("viewer-2"))
        #expect(catalog[AppID("viewer-2")]?.policy.suspend == .never)
        _ = catalog.apply([manifest("viewer")], defaults: Policy())
        let policy = try #require(catalog[AppID("viewer-2")]?.policy)
        #expect(policy.suspend == .auto)
        #expect(policy.isTransient && policy.isAdopted)
        let saved = try #require(catalog[AppID("viewer-2")]).saved(AppID("viewer-2"))
        let restored = try #require(AppDefinition(saved: saved, defaults: Policy()))
        #expect(restored.isAdopted && restored.policy.isAdopted)
        #expect(restored.model == "viewer")
    }

    private func entry(_ id: String) -> AppDefinition {
        AppDefinition(entry: DesktopEntry(manifest: manifest(id)), defaults: Policy())
    }

    @Test func appOfADesktopEntryStaysWithTheEntryAndGivesWayToAManifest() {
        var catalog = AppCatalog()
        for id in ["stays", "goes", "described"] { catalog.insert(entry(id), as: AppID(id)) }
        var again = entry("stays")
        again.command = ["another"]
        let gone = catalog.apply(
            [manifest("described")], defaults: Policy(), entry: { $0.name == "stays" ? again : nil })
        #expect(gone == [AppID("goes")])
        #expect(catalog[AppID("stays")]?.command == ["another"])
        #expect(catalog[AppID("stays")]?.isFromEntry == true)
        #expect(catalog[AppID("described")]?.isFromEntry == false)
    }

    @Test func timesOfAManifestReplaceTheDefaults() {
        var manifest = manifest("a")
        manifest.terminationTimeout = .seconds(15)
        let policy = AppDefinition(manifest: manifest, defaults: Policy()).policy
        #expect(policy.timeouts.termination == .seconds(15))
        #expect(policy.timeouts.didEnterBackground == .seconds(5))
    }
}
