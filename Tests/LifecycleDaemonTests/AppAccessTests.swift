import ControlAPI
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct AppAccessTests {
    @Test func appMayOnlyQueryAndActOnItself() {
        let allowed = LifedMethod.allCases.filter { $0.accessOfApps != .refused }
        #expect(
            Set(allowed) == [
                .list, .getStatus, .monitor, .history, .findApp, .describe, .explain, .background, .suspend, .terminate,
                .kill,
            ])
        #expect(
            Set(allowed.filter { $0.accessOfApps == .filtered }) == [.list, .getStatus, .monitor, .history, .findApp])
    }

    @Test func scopeOfEverythingSeesAllApps() {
        #expect(ClientScope.everything.onlyApp == nil)
        #expect(ClientScope.app(AppID("clock")).onlyApp == AppID("clock"))
        #expect(ClientScope.launcher(AppID("clock")).onlyApp == nil)
    }
}
