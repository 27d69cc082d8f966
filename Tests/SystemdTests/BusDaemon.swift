import Glibc
import TestSupport
import Testing

/// A dbus-daemon of a test's own.
@MainActor final class BusDaemon {
    private let directory: TemporaryDirectory
    private var process: pid_t?

    var socket: String { directory.path + "/bus" }
    var address: String { "unix:path=" + socket }

    init() throws { directory = try TemporaryDirectory() }

    func start() throws {
        let arguments = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + address]
        process = try spawn("/usr/bin/dbus-daemon", arguments)
    }

    /// Ends the daemon at once, so that its socket stays behind without a listener.
    func stop() {
        guard let process else { return }
        self.process = nil
        kill(process, SIGKILL)
        _ = waitpid(process, nil, 0)
    }

    /// Stops the daemon where it stands: it accepts, reads and answers nothing more.
    func freeze() {
        guard let process else { return }
        kill(process, SIGSTOP)
        _ = waitpid(process, nil, WUNTRACED)
    }

    /// Sends a signal to one connection alone, from a connection of its own.
    func sendSignal(to destination: String, path: String, name: String, argument: String) {
        let arguments = [
            "dbus-send", "--bus=" + address, "--type=signal", "--dest=" + destination, path, name, "string:" + argument,
        ]
        guard let sender = try? spawn("/usr/bin/dbus-send", arguments) else { return }
        _ = waitpid(sender, nil, 0)
    }

    isolated deinit { stop() }
}

/// Starts a program with the test's own output.
private func spawn(_ path: String, _ arguments: [String]) throws -> pid_t {
    var process: pid_t = 0
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    try #require(unsafe posix_spawn(&process, path, nil, nil, &pointers, environ) == 0)
    return process
}
