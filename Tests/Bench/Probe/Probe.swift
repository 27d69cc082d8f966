import Glibc

/// A daemon that changes the foreground app and does nothing else: the least that the change costs in Swift.
///
/// It gets the calls org.lifed.Launch (id, program, notes) and org.lifed.Focus (id) on its standard input, a stream socket.
/// `state` in the working directory is the state record, the standard error is the log. The apps end with the probe.
@main struct Probe {
    private let children = probe_open_children()
    private let recordFile = probe_open_record()
    private var table = AppTable()
    private var foreground: Int?
    private var sequence: UInt32 = 0
    /// The change whose reply is pending; calls wait until it is nil.
    private var change: (app: Int, leaving: Int?)?
    private var output: [UInt8] = []

    static func main() {
        var probe = Probe()
        let epoll = probe_open_epoll(probe.children)
        var (input, count) = ([UInt8](repeating: 0, count: 16384), 0)
        while true {
            let sources = probe_wait(epoll)
            if sources & probe_children != 0 { probe.handleChildren() }
            if sources & probe_input != 0 {
                let got = unsafe input.withUnsafeMutableBytes { unsafe probe_read($0.baseAddress, count, $0.count) }
                guard got > 0 else { break }
                count += got
            }
            while probe.change == nil, let end = input[..<count].firstIndex(of: 0) {
                probe.handle(input.span.extracting(..<end))
                count -= end + 1
                for index in 0..<count { input[index] = input[end + 1 + index] }
            }
        }
        for app in probe.table.apps where app.state != .ended { kill(-app.pid, SIGKILL) }
    }

    private mutating func handle(_ message: Span<UInt8>) {
        guard let call = try? Call(message), let method = call.method else { exit(EXIT_FAILURE) }
        let id = call.id ?? 0..<0, index = table.index(of: message, id)
        if message.matches(method, "org.lifed.Focus"), let index, table.apps[index].state != .ended {
            changeForeground(to: index)
        } else if message.matches(method, "org.lifed.Launch"), let program = call.program, index == nil {
            let pid = unsafe probe_spawn(message.copy(program) + [0], message.copy(call.notes ?? 0..<0) + [0])
            changeForeground(to: table.append(App(id: message.copy(id), pid: pid, pidfd: probe_open_pidfd(pid))))
        } else {
            output.append(#"{"error":"org.lifed.Refused","parameters":{"id":""#, message.copy(id), "\"}}\0")
            unsafe output.flush { unsafe probe_reply($0, $1) }
        }
    }

    private mutating func changeForeground(to index: Int) {
        let leaving = foreground
        change = (index, leaving)
        guard leaving != index else { return completeChange() }
        writeRecord(table.apps[index], index, leaving)
        foreground = index
        probe_send_signal(table.apps[index].pidfd, SIGCONT)
        table.apps[index].state = .active
        guard let leaving, table.apps[leaving].state == .active else { return completeChange() }
        probe_send_signal(table.apps[leaving].pidfd, SIGSTOP)
    }

    private mutating func writeRecord(_ app: App, _ index: Int, _ leaving: Int?) {
        sequence &+= 1
        let old: (index: UInt32, pid: pid_t) = leaving.map { (UInt32($0), table.apps[$0].pid) } ?? (.max, 0)
        var record: [6 of UInt32] = [sequence, UInt32(index), UInt32(app.pid), old.index, UInt32(old.pid), fnv1aBasis]
        for word in 0..<5 { record[5] = fnv1a(record[5], record[word]) }
        unsafe record.span.withUnsafeBytes { unsafe probe_write_record(recordFile, $0.baseAddress, $0.count, sequence) }
    }

    private mutating func handleChildren() {
        let pid = probe_read_child(children)
        // SIGCHLD does not queue: one with another pid can hide that of the leaving app.
        let leaving = change?.leaving
        if let leaving { collect(leaving) }
        if pid != 0, let index = table.apps.firstIndex(where: { $0.pid == pid }), index != leaving { collect(index) }
    }

    private mutating func collect(_ index: Int) {
        let code = probe_collect(table.apps[index].pidfd)
        guard code != 0 else { return }
        table.apps[index].state = code == CInt(CLD_STOPPED) ? .suspended : .ended
        if change?.leaving == index { completeChange() }
    }

    private mutating func completeChange() {
        guard let done = change.take() else { return }
        let app = table.apps[done.app]
        output.append(#"{"parameters":{"app":{"id":""#, app.id, #"","name":null,"state":"active","target":"active","#)
        output.append(#""reason":"focus","foreground":true,"connected":false,"adHoc":true,"pid":"#)
        output.append(Int(app.pid))
        output.append(#","containment":"processGroup","sinceUSec":"#)
        output.append(probe_microseconds())
        output.append(#","lastExit":null,"scenes":null,"stoppedByOther":false}}}"#, [0])
        unsafe output.flush { unsafe probe_reply($0, $1) }
        guard let leaving = done.leaving, leaving != done.app else { return }
        output.append("<6>", app.id, ": suspended -> active (focus); ")
        output.append("", table.apps[leaving].id, ": active -> suspended (displaced)\n")
        unsafe output.flush { unsafe write(STDERR_FILENO, $0, $1) }
    }
}

enum AppState { case active, suspended, ended }

struct App {
    let id: [UInt8], pid: pid_t, pidfd: CInt
    var state = AppState.active
}

/// The apps in the order of their launch, and the index of each by its id.
struct AppTable {
    var apps: [App] = []
    private var slots = [Int?](repeating: nil, count: 4096)

    mutating func append(_ app: App) -> Int {
        guard apps.count < slots.count / 2 else { fatalError("too many apps") }
        slots[slot(app.id.span, app.id.indices)] = apps.count
        apps.append(app)
        return apps.count - 1
    }

    func index(of message: Span<UInt8>, _ id: Range<Int>) -> Int? { slots[slot(message, id)] }

    /// Returns the slot that has the app with the id or, if there is none, is free for it.
    private func slot(_ bytes: Span<UInt8>, _ id: Range<Int>) -> Int {
        var slot = Int(id.reduce(fnv1aBasis) { fnv1a($0, UInt32(bytes[$1])) }) % slots.count
        while let index = slots[slot], !bytes.matches(id, apps[index].id) { slot = (slot + 1) % slots.count }
        return slot
    }
}

let fnv1aBasis: UInt32 = 2_166_136_261
func fnv1a(_ hash: UInt32, _ word: UInt32) -> UInt32 { (hash ^ word) &* 16_777_619 }

/// Text is collected in an array that keeps its capacity.
extension [UInt8] {
    mutating func append(_ text: StaticString, _ bytes: [UInt8] = [], _ end: StaticString = "") {
        text.withUTF8Buffer { unsafe append(contentsOf: $0) }
        append(contentsOf: bytes)
        end.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    mutating func append(_ number: Int) {
        if number >= 10 { append(number / 10) }
        append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// The result is not looked at: if the client is gone, the next read says so.
    mutating func flush(_ write: (UnsafeRawPointer?, Int) -> Int) {
        _ = unsafe withUnsafeBytes { unsafe write($0.baseAddress, $0.count) }
        removeAll(keepingCapacity: true)
    }
}

extension Span<UInt8> {
    func copy(_ range: Range<Int>) -> [UInt8] { range.map { self[$0] } }
    func matches(_ range: Range<Int>, _ other: some Collection<UInt8>) -> Bool {
        range.count == other.count && zip(range, other).allSatisfy { self[$0] == $1 }
    }
    func matches(_ range: Range<Int>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { unsafe matches(range, $0) }
    }
}
