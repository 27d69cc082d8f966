import Glibc
import Lifecycle
import TestSupport
import Testing

@Suite struct AppSavedStateTests {
    /// The environment belongs to the process, so each of these has one of its own.
    private func output(of command: [String], _ environment: [String: String]) throws -> [String] {
        let folder = try TemporaryDirectory()
        var environment = environment
        environment["LIFECYCLE_STATE_DIR"] = folder.path
        let process = try AppProcess(command, channel: nil, environment: environment)
        return try withExtendedLifetime(folder) { try process.remainingLines() }
    }

    @Test func savedStateInCReturnsWholeOrNotAtAll() throws {
        let library = try Build.cLibrary.get() + "/lib"
        let script = Build.root + "/Tests/LifecycleFixture/state.py"
        let lines = try output(of: ["python3", script], ["LD_LIBRARY_PATH": library])
        #expect(
            lines == [
                "nothing yet: ENOENT", "first: saved b'one'", "second: saved b'two\\x00and a half'",
                "too small a buffer: 14", "empty: saved b''", "greatest: saved 1048576", "too large: EFBIG 1048576",
                "cut: EBADMSG", "longer: EBADMSG", "changed: EBADMSG", "none of ours: EBADMSG", "empty file: EBADMSG",
                "a pipe: EBADMSG", "in place of the pipe: saved b'three'",
                "mode: 0o600 files: ['.lifecycle-state']", "half a file: b'three' saved b'four'",
            ])
    }

    @Test func `in Swift too`() throws {
        let lines = try output(of: [Build.product("LifecycleFixture"), "state"], [:])
        #expect(
            lines == [
                "cannot access the saved state: no state was saved, or LIFECYCLE_STATE_DIR is not set; start without it",
                "[1, 2, 3]", "[]",
                "cannot save the state: it is larger than 1 MiB; save less", "[]",
            ])
    }

    @MainActor
    @Test func `without a directory nothing is kept`() throws {
        try #require(unsafe getenv("LIFECYCLE_STATE_DIR") == nil)
        #expect(throws: RestorationError.notThere) { try LifecycleApplication.shared.saveRestorationState([1]) }
        #expect(throws: RestorationError.notThere) { try LifecycleApplication.shared.restorationState() }
    }
}
