import Glibc
import Testing

@testable import LifecycleDaemon

@Suite struct OptionsTests {
    /// The environment of a build has neither a runtime directory nor a home.
    @Test func checkOfANamedDirectoryNeedsNoOther() async {
        await #expect(processExitsWith: .success) {
            try await MainActor.run {
                for name in ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"] { unsafe unsetenv(name) }
                try withTemporaryDirectory { (root: String) throws in
                    let problems = try checkConfiguration(options: Options(isUser: true, configurationDirectory: root))
                    #expect(problems == [])
                }
            }
        }
    }
}
