import Glibc

/// Changes the foreground app and does nothing else: the least that a switch costs a daemon in Swift.
///
/// It reads calls of org.lifed.Launch (id, program, notes) and org.lifed.Focus (id) from its standard input, a stream
/// socket. The file `state` in the working directory is its record, standard error its log. Its apps end with it.
@main struct Probe {
    private struct App {
        let id: String, pid: pid_t
    }

    private var apps: [String: App] = [:]
    private var foreground: App?
    /// The app that comes and the app that leaves, until the one that leaves has stopped.
    private var change: (to: App, leaving: App)?
    private var received: [UInt8] = []
    private let children: CInt
    private let record = unsafe open("state", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)

    static func main() {
        var probe = Probe()
        probe.run()
        for app in probe.apps.values { kill(app.pid, SIGKILL) }
    }

    private init() {
        var childEnd = sigset_t()
        unsafe sigemptyset(&childEnd)
        unsafe sigaddset(&childEnd, SIGCHLD)
        unsafe sigprocmask(SIG_BLOCK, &childEnd, nil)
        children = unsafe signalfd(-1, &childEnd, CInt(SFD_CLOEXEC))
    }

    private mutating func run() {
        var sources = [STDIN_FILENO, children].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            _ = unsafe poll(&sources, 2, -1)
            if sources[1].revents != 0 { finishChangeIfStopped() }
            if sources[0].revents != 0, !receive() { return }
        }
    }

    /// Reads what the client has sent, and returns false if it has gone.
    private mutating func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else { return false }
        received += buffer[..<count]
        while let end = received.firstIndex(of: 0) {
            handle(String(decoding: received[..<end], as: UTF8.self))
            received.removeFirst(end + 1)
        }
        return true
    }

    /// The texts of a call are what stands between its quotes: no id or path here has a quote in it.
    private mutating func handle(_ call: String) {
        let words = call.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
        func text(of key: String) -> String {
            guard let index = words.firstIndex(of: key) else { fatalError("no \(key): \(call)") }
            return words[index + 2]
        }
        let id = text(of: "id")
        if text(of: "method") == "org.lifed.Launch" {
            apps[id] = App(id: id, pid: spawn(text(of: "program"), text(of: "notes")))
        }
        guard let app = apps[id] else { fatalError("no app \(id)") }
        focus(app)
    }

    private mutating func focus(_ app: App) {
        let leaving = foreground
        guard leaving?.id != app.id else { return reply(app) }
        write(record, "\(app.id) \(app.pid) \(leaving?.id ?? "-") \(leaving?.pid ?? 0)\n")
        foreground = app
        kill(app.pid, SIGCONT)
        guard let leaving else { return reply(app) }
        kill(leaving.pid, SIGSTOP)
        change = (app, leaving)
    }

    private mutating func finishChangeIfStopped() {
        var info = signalfd_siginfo()
        _ = unsafe read(children, &info, MemoryLayout<signalfd_siginfo>.size)
        guard let (app, leaving) = change, waitpid(leaving.pid, nil, WUNTRACED | WNOHANG) > 0 else { return }
        change = nil
        reply(app)
        write(STDERR_FILENO, "<6>\(app.id): suspended -> active (focus); \(leaving.id): active -> suspended\n")
    }

    /// Replies with as many fields as lifed does.
    private func reply(_ app: App) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        let fields = """
            {"parameters":{"app":{"id":"\(app.id)","name":null,"state":"active","target":"active","reason":"focus",\
            "foreground":true,"connected":false,"adHoc":true,"pid":\(app.pid),"containment":"keeper",\
            "sinceUSec":\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000),"lastExit":null,"scenes":null}}}\0
            """
        write(STDIN_FILENO, fields)
    }

    private func write(_ descriptor: CInt, _ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.write(descriptor, bytes, bytes.count)
    }

    private func spawn(_ program: String, _ notes: String) -> pid_t {
        var pid: pid_t = 0
        let arguments = unsafe [strdup(program), strdup(notes), nil]
        let error = unsafe posix_spawn(&pid, program, nil, nil, arguments, environ)
        guard error == 0 else { fatalError("cannot start \(program): error \(error)") }
        return pid
    }
}
