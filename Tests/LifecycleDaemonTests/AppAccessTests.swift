import ControlAPI
import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct AppAccessTests {
    @Test func appMayOnlyQueryAndActOnItself() {
        #expect(methods(.filtered) == [.list, .getStatus, .monitor, .history, .findApp])
        #expect(methods(.onItself) == [.describe, .explain, .background, .suspend, .terminate, .kill])
    }

    @Test func methodThatAffectsAllUsersIsForAdministrators() {
        #expect(methods(.administrators) == [.simulateMemoryPressure, .simulate, .reload, .reexecute])
    }

    private func methods(_ access: MethodAccess) -> Set<LifedMethod> {
        Set(LifedMethod.allCases.filter { $0.access == access })
    }

    @Test func scopeOfEverythingSeesAllApps() {
        #expect(ClientScope.everything.onlyApp == nil)
        #expect(ClientScope.app(AppID("clock")).onlyApp == AppID("clock"))
        #expect(ClientScope.member(1000).onlyApp == nil)
    }
}
