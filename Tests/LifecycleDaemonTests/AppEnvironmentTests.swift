import AppChannel
import Configuration
import LifecycleCore
import Processes
import Testing

@testable import LifecycleDaemon

@Suite struct AppEnvironmentTests {
    static let id = AppID("clock")
    static let daemon = AppEnvironment(daemon: [
        "PATH": "/bin", "LANG": "C.UTF-8", "HOME": "/root", "DISPLAY": ":0", "NOTIFY_SOCKET": "/n",
        "WATCHDOG_USEC": "1", "LISTEN_FDS": "1", "LIFECYCLE_FD": "7",
    ])

    func environment(_ definition: AppDefinition, account: UserAccount? = nil) -> [String: String] {
        Self.daemon.environment(
            of: Self.id, definition, launch: LaunchFields(reason: "launch"), account: account, stateDirectory: "/state")
    }

    @Test func variablesOfTheServiceManagerAreNotInherited() {
        let found = environment(AppDefinition(adHoc: ["true"], user: .daemon, defaults: Policy()))
        #expect(
            found == [
                "LIFECYCLE_APP_ID": "clock", "LIFECYCLE_STATE_DIR": "/state", "LIFECYCLE_LAUNCH_REASON": "launch",
            ])
    }

    @Test func environmentDescribesTheLaunch() {
        let launch = LaunchFields(
            reason: "restart", restores: true, previousState: "active", previousReason: "crash", previousTime: 42)
        var definition = AppDefinition(adHoc: ["true"], user: .daemon, defaults: Policy())
        definition.environment = ["LIFECYCLE_RESTORE": "0", "LIFECYCLE_PREVIOUS_TIME": "1"]
        let found = Self.daemon.environment(
            of: Self.id, definition, launch: launch, account: nil, stateDirectory: "/state")
        #expect(found["LIFECYCLE_LAUNCH_REASON"] == "restart" && found["LIFECYCLE_RESTORE"] == "1")
        #expect(found["LIFECYCLE_PREVIOUS_STATE"] == "active" && found["LIFECYCLE_PREVIOUS_REASON"] == "crash")
        #expect(found["LIFECYCLE_PREVIOUS_TIME"] == "42")
        #expect(environment(definition)["LIFECYCLE_RESTORE"] == nil && found["LIFECYCLE_RESTORE_FAILED"] == nil)
        #expect(environment(definition)["LIFECYCLE_PREVIOUS_TIME"] == nil)
    }

    @Test func adHocAppHasItsCallersEnvironmentWithoutTheDaemonsVariables() {
        var definition = AppDefinition(adHoc: ["true"], user: .numbered(1000), defaults: Policy())
        definition.environment = ["A": "b", "LIFECYCLE_APP_ID": "other", "LISTEN_FDS": "9"]
        let found = environment(definition)
        #expect(
            found == [
                "A": "b", "LIFECYCLE_APP_ID": "clock", "LIFECYCLE_STATE_DIR": "/state",
                "LIFECYCLE_LAUNCH_REASON": "launch",
            ])
    }

    @Test func appWithAUserOfItsOwnHasThatUsersEnvironment() throws {
        let root = try UserAccount.named("root")
        var manifest = Manifest(id: "clock", file: "/etc/clock.toml", command: ["true"])
        (manifest.user, manifest.environment) = ("root", ["DISPLAY": ":1"])
        let definition = AppDefinition(manifest: manifest, defaults: Policy())
        let found = environment(definition, account: root)
        #expect(found["USER"] == "root" && found["HOME"] == root.home && found["SHELL"] == root.shell)
        #expect(found["PATH"] == "/bin" && found["LANG"] == "C.UTF-8")
        #expect(found["DISPLAY"] == ":1")
        #expect(found["NOTIFY_SOCKET"] == nil)
    }
}
