import Glibc
import Testing

/// A dbus-daemon of a test's own.
@MainActor final class BusDaemon {
    let directory: String
    private var process: pid_t?

    var socket: String { directory + "/bus" }
    var address: String { "unix:path=" + socket }

    init() throws {
        var template = Array("/tmp/lifed-bus-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template).map { unsafe String(cString: $0) }
        directory = try #require(made)
    }

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

    isolated deinit {
        stop()
        _ = unsafe unlink(socket)
        _ = unsafe rmdir(directory)
    }
}

/// Starts a program with the test's own output.
private func spawn(_ path: String, _ arguments: [String]) throws -> pid_t {
    var process: pid_t = 0
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    try #require(unsafe posix_spawn(&process, path, nil, nil, &pointers, environ) == 0)
    return process
}

/// Listens at a path, accepts no client, and answers none.
@MainActor final class SilentListener {
    private var descriptor: Int32
    private let path: String

    init(path: String) throws {
        self.path = path
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        try #require(result == 0)
        try #require(listen(descriptor, 1) == 0)
    }

    func hangUp() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    isolated deinit {
        hangUp()
        _ = unsafe unlink(path)
    }
}
