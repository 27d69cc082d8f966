import ControlAPI
import Glibc
import LifecycleCore
import Testing

@testable import LifecycleDaemon
@testable import Processes

@Suite struct StartFailureTests {
    @Test func shortageHasAnotherRemedyThanAWrongCommand() {
        for error: Int32 in [EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, ENOBUFS] {
            #expect(StartFailure.spawn(.failed("do it", error)).remedy.contains("end other apps"))
        }
        let failures: [StartFailure] = [
            .spawn(.failed("do it", EPERM)), .spawn(.programNotFound(program: "true", searchPath: nil)),
            .preparation(DaemonError(.launch, "no room for another process")),
        ]
        for failure in failures { #expect(failure.remedy.contains("correct what the message names")) }
        #expect(StartFailure.stateTooLarge(limit: 1).remedy.contains("end other apps"))
        #expect(StartFailure.unrecorded("/run", Errno(rawValue: EIO)).remedy.contains("free some space"))
    }

    @Test func refusalHasTheWordsOfTheError() {
        let error = SpawnError.resources(Errno(rawValue: EMFILE))
        let refusal = ControlError(.launchFailed(AppID("clock"), SystemFailure(StartFailure.spawn(error))))
        #expect(refusal.reason == error.description)
        #expect(refusal.remedy == StartFailure.spawn(error).remedy)
    }

    @Test func fullDirectoryIsNamed() {
        #expect(StartFailure.unrecorded("/run/lifed", Errno(rawValue: ENOSPC)).description == "/run/lifed is full")
    }
}
