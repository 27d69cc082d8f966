import ControlAPI
import Glibc
import LifecycleCore
import Testing

@testable import LifecycleDaemon
@testable import Processes

@Suite struct StartFailureTests {
    @Test func shortageDiffersFromAWrongCommand() {
        for error: Int32 in [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, ENOBUFS] {
            #expect(StartFailure(.failed("do it", error)).isShortage)
        }
        #expect(!StartFailure(.failed("do it", EPERM)).isShortage)
        #expect(!StartFailure(.programNotFound(program: "true", searchPath: nil)).isShortage)
        #expect(!StartFailure(DaemonError(.launch, "no room for another process")).isShortage)
    }

    @Test func descriptionOfTheErrorIsKept() {
        let error = SpawnError.resources(Errno(rawValue: EMFILE))
        #expect(StartFailure(error).words == error.description)
    }

    /// The words do not decide: a command may have any name.
    @Test func remedyFollowsFromTheKind() {
        let words = "no room for another process"
        #expect(Self.refusal(.shortage(words)).remedy.contains("end other apps"))
        #expect(Self.refusal(.unrecorded(words)).remedy.contains("free some space"))
        #expect(Self.refusal(.command(words)).remedy.contains("correct what the message names"))
        #expect(Self.refusal(.command(words)).reason == words)
    }

    private static func refusal(_ failure: StartFailure) -> ControlError {
        ControlError(.launchFailed(AppID("clock"), failure))
    }
}

extension StartFailure {
    fileprivate var isShortage: Bool { if case .shortage = self { true } else { false } }
}
