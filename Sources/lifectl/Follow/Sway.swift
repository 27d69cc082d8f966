import CLinux
import ControlAPI
import Glibc
import LifecycleTypes
import Varlink

/// sway, through its control socket (sway-ipc(7)).
///
/// After a change the source requests the whole tree, once at a time: only the tree after the last change counts.
final class SwaySource: Source {
    let name = "sway"
    private let socket: LocalSocket
    private var buffer = SwayBuffer()
    private var isTreeAwaited = false
    private var hasChanged = true

    /// The changes of a window that do not change the focus. Titles change all the time.
    private static let unimportant: Set<String> = ["title", "mark", "urgent"]

    init(path: String) throws(SourceLost) {
        socket = try LocalSocket(path: path)
        let events = Array(#"["window","workspace","shutdown"]"#.utf8)
        try socket.send(SwayMessage(kind: .subscribe, payload: events).bytes)
        try requestTree()
    }

    /// Connects to the sway that the environment names, or to one whose socket is in XDG_RUNTIME_DIR.
    static func find(environment: [String: String]) throws(Failure) -> SwaySource {
        let paths = SwaySocket.candidates(environment: environment)
        for path in paths { if let source = try? SwaySource(path: path) { return source } }
        throw SwaySocket.absence(environment: environment, tried: paths)
    }

    var descriptor: CInt { socket.descriptor }

    func read() throws(SourceLost) -> Observation? {
        buffer.append(try socket.read())
        var newest: Observation?
        do throws(SwayBuffer.Garbage) {
            while let message = try buffer.next() {
                if let observation = try handle(message) { newest = observation }
            }
        } catch {
            throw SourceLost(reason: "sway sent a malformed message")
        }
        if hasChanged, !isTreeAwaited { try requestTree() }
        // After a change this tree is old, and the next one is requested.
        return hasChanged ? nil : newest
    }

    private func requestTree() throws(SourceLost) {
        try socket.send(SwayMessage(kind: .tree, payload: []).bytes)
        isTreeAwaited = true
        hasChanged = false
    }

    private func handle(_ message: SwayMessage) throws(SwayBuffer.Garbage) -> Observation? {
        switch message.kind {
        case .tree:
            isTreeAwaited = false
            guard let node = JSON.decode(SwayNode.self, from: message.payload) else { throw SwayBuffer.Garbage() }
            return node.observation
        case .subscribe:
            guard JSON.decode(JSONValue.self, from: message.payload)?["success"]?.bool == true else {
                throw SwayBuffer.Garbage()
            }
        case .window:
            let change = JSON.decode(JSONValue.self, from: message.payload)?["change"]?.string
            if !Self.unimportant.contains(change ?? "") { hasChanged = true }
        case .workspace: hasChanged = true
        // The socket closes next.
        case .shutdown, .other: break
        }
        return nil
    }
}

/// The path of sway's socket.
enum SwaySocket {
    static let variable = "SWAYSOCK"

    /// Returns the socket that the environment names, and the sockets of XDG_RUNTIME_DIR, for a sway that was restarted.
    static func candidates(environment: [String: String]) -> [String] {
        let named = environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        let directory = environment["XDG_RUNTIME_DIR"] ?? ""
        guard directory.hasPrefix("/") else { return [named].compactMap { $0 } }
        let found: [String] = names(in: directory)
            .filter { $0.hasPrefix("sway-ipc.") && $0.hasSuffix(".sock") }
            .map { "\(directory)/\($0)" }
        return [named].compactMap { $0 } + found.sorted().filter { $0 != named }
    }

    private static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(validatingCString: $0)
                }
            }
            if let name { names.append(name) }
        }
        return names
    }

    /// Returns the failure for the case that no socket answers.
    static func absence(environment: [String: String], tried: [String]) -> Failure {
        let action = "cannot follow sway"
        if !environment["I3SOCK", default: ""].isEmpty, tried.isEmpty {
            return Failure(
                .unavailable, action, "this is i3, which does not report the processes of windows",
                remedy: "use 'lifectl follow x11'")
        }
        let sockets =
            tried.isEmpty
            ? "there is no sway-ipc.*.sock in XDG_RUNTIME_DIR"
            : "no program listens at " + tried.joined(separator: " or ")
        let named = environment[variable, default: ""].isEmpty ? "SWAYSOCK is not set, and " : ""
        return Failure(.unavailable, action, "\(named)\(sockets)", remedy: "start sway, or set SWAYSOCK")
    }
}

// MARK: - The tree

/// A node of sway's tree of outputs, workspaces, containers and windows, as far as the focus needs it.
struct SwayNode: JSONReadable {
    let id: Int64
    let name: String?
    let pid: Int64?
    /// The kind of a window: `xdg_shell` or `xwayland`.
    let shell: String?
    let focused: Bool
    let visible: Bool?
    /// The ids of the children, the last focused one first.
    let focus: [Int64]
    let children: [SwayNode]

    init(json: JSONValue) throws(JSONError) {
        id = try json.readIfPresent("id") ?? 0
        name = try json.readIfPresent("name")
        pid = try json.readIfPresent("pid")
        shell = try json.readIfPresent("shell")
        focused = try json.readIfPresent("focused") ?? false
        visible = try json.readIfPresent("visible")
        focus = try json.readIfPresent("focus") ?? []
        let tiled: [SwayNode] = try json.readIfPresent("nodes") ?? []
        children = try tiled + (json.readIfPresent("floating_nodes") ?? [])
    }

    /// The window; a window has a process and no children.
    private var item: Item? {
        guard let pid, children.isEmpty else { return nil }
        // sway reads the process of an X11 window from the window itself (wlroots before 0.17).
        return Item(number: id, process: pid, isAttested: shell != "xwayland", title: name ?? "")
    }

    /// The visible windows, and the window with the focus.
    var observation: Observation {
        var observation = Observation()
        var visible: [Item] = []
        gather(&visible)
        observation.uses[.visible] = visible
        if let focused = focusedNode { observation.focus = focused.latestItem.map { .item($0) } ?? .nothing }
        return observation
    }

    private func gather(_ visible: inout [Item]) {
        guard visible.count < Observation.limit else { return }
        if self.visible == true, let item { visible.append(item) }
        for child in children { child.gather(&visible) }
    }

    /// The node with the focus; nil if the keyboard belongs to something outside of the workspaces, as a screen locker.
    private var focusedNode: SwayNode? {
        if focused { return self }
        for child in children { if let node = child.focusedNode { return node } }
        return nil
    }

    /// The window of a container or a workspace that had the focus last.
    private var latestItem: Item? {
        if let item { return item }
        let order = focus.compactMap { id in children.first { $0.id == id } }
        for child in order.isEmpty ? children : order { if let item = child.latestItem { return item } }
        return nil
    }
}

// MARK: - Messages

/// A message of sway's control socket: the magic words, a length and a type in the machine's byte order, and JSON.
struct SwayMessage: Equatable {
    /// The type: a call and its answer have the same number, and an event has the highest bit.
    enum Kind: Equatable {
        case subscribe, tree
        /// An event about windows.
        case window
        /// An event about workspaces.
        case workspace
        /// The event that sway ends.
        case shutdown
        case other(UInt32)

        static func named(_ number: UInt32) -> Kind {
            [.subscribe, .tree, .window, .workspace, .shutdown].first { $0.number == number } ?? .other(number)
        }

        var number: UInt32 {
            switch self {
            case .subscribe: 2
            case .tree: 4
            case .workspace: 0x8000_0000
            case .window: 0x8000_0003
            case .shutdown: 0x8000_0006
            case .other(let number): number
            }
        }
    }

    let kind: Kind
    let payload: [UInt8]

    static let magic = Array("i3-ipc".utf8)
    static let headerLength = magic.count + 8

    var bytes: [UInt8] {
        var bytes = Self.magic
        for number in [UInt32(payload.count), kind.number] {
            unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes + payload
    }
}

/// The bytes that have come over sway's socket and were not read.
struct SwayBuffer {
    /// The error for bytes that are no message of sway's, and for a message above the limit.
    struct Garbage: Error, Equatable {}

    /// The longest message that is read, in bytes: far more than the tree of a full screen.
    static let limit = 16 << 20

    private var bytes: [UInt8] = []
    private var position = 0

    mutating func append(_ new: [UInt8]) {
        bytes.removeFirst(position)
        position = 0
        bytes += new
    }

    /// Returns the next message; nil until all of it has come.
    mutating func next() throws(Garbage) -> SwayMessage? {
        let rest = bytes[position...]
        guard rest.prefix(SwayMessage.magic.count).elementsEqual(SwayMessage.magic.prefix(rest.count)) else {
            throw Garbage()
        }
        guard rest.count >= SwayMessage.headerLength else { return nil }
        let length = Int(number(at: position + SwayMessage.magic.count))
        guard length <= Self.limit else { throw Garbage() }
        let start = position + SwayMessage.headerLength
        guard rest.count >= SwayMessage.headerLength + length else { return nil }
        let kind = SwayMessage.Kind.named(number(at: position + SwayMessage.magic.count + 4))
        position = start + length
        return SwayMessage(kind: kind, payload: Array(bytes[start..<position]))
    }

    private func number(at index: Int) -> UInt32 {
        var number: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe $0.copyBytes(from: bytes[index..<index + 4]) }
        return number
    }
}

// MARK: - The socket

/// A connection to an AF_UNIX stream socket of another program.
final class LocalSocket {
    let descriptor: CInt

    /// The time for which the backlog or the buffer of the program may be full, in seconds.
    private static let patience = 5

    init(path: String) throws(SourceLost) {
        descriptor = Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SourceLost(reason: "socket: \(Text.error(errno))") }
        var time = timeval(tv_sec: Self.patience, tv_usec: 0)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let result = unsafe linux_connect_path(descriptor, path, path.utf8.count)
        guard result == 0 else {
            close(descriptor)
            throw SourceLost(reason: "\(path): \(Text.error(-result))")
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws(SourceLost) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { rest in
                unsafe Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sent += count
            } else if errno != EINTR {
                throw SourceLost(reason: Text.error(errno))
            }
        }
    }

    /// Reads the bytes that have come, without waiting.
    func read() throws(SourceLost) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { storage, length in
            count = unsafe recv(descriptor, storage.baseAddress, storage.count, CInt(MSG_DONTWAIT))
            length = max(0, count)
        }
        if count == 0 { throw SourceLost(reason: "it closed the connection") }
        if count < 0, errno != EAGAIN, errno != EINTR {
            throw SourceLost(reason: Text.error(errno))
        }
        return bytes
    }
}
