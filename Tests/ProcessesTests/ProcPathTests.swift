import Glibc
import Testing

@testable import Processes

@Suite struct ProcPathTests {
    private func text(_ path: ProcPath) -> String {
        unsafe path.withPath { unsafe String(cString: $0) }
    }

    @Test func numbersAreInDecimal() {
        #expect(text(ProcPath(1, "stat")) == "/proc/1/stat")
        #expect(text(ProcPath(4_194_304, "oom_score_adj")) == "/proc/4194304/oom_score_adj")
        #expect(text(ProcPath(.max, "fdinfo/", 0)) == "/proc/2147483647/fdinfo/0")
        #expect(text(ProcPath(-10, "fd/", .max)) == "/proc/-10/fd/2147483647")
    }

    @Test func targetOfALinkIsRead() throws {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(ProcPath(getpid(), "fd/", descriptor).readLink() == "/dev/null")
        #expect(ProcPath(getpid(), "stat").readLink() == nil)
    }
}
