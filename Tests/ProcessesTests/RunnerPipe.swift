import Glibc
import Testing

@testable import Processes

/// What ends the fixture's processes with the test runner, however that ends.
///
/// The runner holds the writing end of a pipe for as long as it lives, under a number that its exit tests know. Each
/// process of the fixture opens the pipe through `/proc`, and the kernel kills it when the writing end is gone. The exit
/// test cannot be the one that holds it: some of them die on purpose and leave their processes to the next.
enum RunnerPipe {
    /// Higher than what the runner opens otherwise.
    private static let number: Int32 = 900

    /// The process that runs the tests, for an exit test.
    static let runner = getppid()

    /// Where the fixture finds the pipe.
    static var path: String { "/proc/\(runner)/fd/\(number)" }

    /// In the runner: makes the pipe, once.
    static let isOpen: Bool = {
        guard let pipe = try? Pipe() else { return false }
        return fcntl(pipe.writeEnd.rawValue, F_DUPFD_CLOEXEC, number) == number
    }()
}

/// For suites that start the fixture.
struct RunnerPipeTrait: SuiteTrait {
    func prepare(for test: Test) async throws {
        #expect(RunnerPipe.isOpen)
    }
}

extension Trait where Self == RunnerPipeTrait {
    static var endsWithRunner: Self { RunnerPipeTrait() }
}
