import CLinux
import Glibc
import Systemd

/// A program of PATH whose output is read while it runs. It wakes the loop, and is killed when this value is released.
@MainActor final class ChildProgram {
    private let process: pid_t
    private let output: CInt
    private let wake: IOSource
    private var isFinished = false

    init(_ command: [String], loop: EventLoop) throws(SourceLost) {
        var ends: [CInt] = [-1, -1]
        // No other child inherits it.
        let failure = unsafe linux_pipe(&ends)
        guard failure == 0 else { throw SourceLost(reason: "pipe: \(errnoText(-failure))") }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var number: pid_t = 0
        let error = unsafe posix_spawnp(&number, command[0], &actions, nil, &words, environ)
        close(ends[1])
        (process, output) = (number, ends[0])
        do throws(SourceLost) {
            guard error == 0 else {
                throw SourceLost(
                    reason: "cannot run \(command[0]): \(errnoText(error))", remedy: "install \(command[0])")
            }
            _ = fcntl(output, F_SETFL, O_NONBLOCK)
            wake = try loop.wake(by: output)
        } catch {
            close(ends[0])
            throw error
        }
    }

    isolated deinit {
        wake.cancel()
        if !isFinished { kill(process, SIGKILL) }
        _ = finish()
        close(output)
    }

    /// Reads the output that has come, without waiting; nil at its end.
    func read() -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, length in
            unsafe count = Glibc.read(output, buffer.baseAddress, buffer.count)
            length = max(0, count)
        }
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) ? bytes : nil
    }

    /// Waits for the end of the program, which has ended its output.
    ///
    /// - Returns: The exit status as a shell has it.
    func finish() -> CInt {
        var status: CInt = 0
        while !isFinished, unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        isFinished = true
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }
}
