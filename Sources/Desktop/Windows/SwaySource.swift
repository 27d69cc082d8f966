import Glibc
import LifecycleTypes
import Systemd
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

    init(path: String, on loop: EventLoop) throws(SourceLost) {
        socket = try LocalSocket(path: path, loop: loop)
        let events = Array(#"["window","workspace"]"#.utf8)
        try socket.send(SwayMessage(.subscribe, payload: events).bytes)
        try requestTree()
    }

    /// Connects to the sway that the environment names, or to one whose socket is in XDG_RUNTIME_DIR.
    static func find(on loop: EventLoop) throws(SourceLost) -> SwaySource {
        let paths = SwaySocket.candidates(variable: variable)
        for path in paths { if let source = try? SwaySource(path: path, on: loop) { return source } }
        throw SourceLost(
            reason: paths.isEmpty
                ? "SWAYSOCK is not set, and there is no sway-ipc.*.sock in XDG_RUNTIME_DIR"
                : "no program listens at " + paths.joined(separator: " or "),
            remedy: "start sway, or set SWAYSOCK; i3 is followed as x11")
    }

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
        try socket.send(SwayMessage(.tree).bytes)
        isTreeAwaited = true
        hasChanged = false
    }

    private func handle(_ message: SwayMessage) throws(SwayBuffer.Garbage) -> Observation? {
        switch message.kind {
        case .tree:
            isTreeAwaited = false
            guard let json = message.json, let node = try? SwayNode(json: json) else { throw SwayBuffer.Garbage() }
            return node.observation
        case .subscribe:
            guard message.json?["success"]?.bool == true else {
                throw SwayBuffer.Garbage()
            }
        case .window:
            let change = message.json?["change"]?.string
            if !Self.unimportant.contains(change ?? "") { hasChanged = true }
        case .workspace: hasChanged = true
        case nil: break
        }
        return nil
    }
}

/// The path of sway's socket.
enum SwaySocket {
    static let variable = "SWAYSOCK"

    /// Returns the socket that the environment names, and the sockets of XDG_RUNTIME_DIR, for a sway that was restarted.
    static func candidates(variable: (String) -> String?) -> [String] {
        let named = [variable(self.variable)].compactMap { $0 }
        guard let directory = variable("XDG_RUNTIME_DIR") else { return named }
        var found = unsafe glob_t()
        defer { unsafe globfree(&found) }
        guard unsafe glob("\(directory)/sway-ipc.*.sock", 0, nil, &found) == 0 else { return named }
        let paths = unsafe (0..<Int(found.gl_pathc)).compactMap { unsafe found.gl_pathv[$0] }
        return unsafe named + paths.map { unsafe String(cString: $0) }.filter { !named.contains($0) }
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

    /// The node with the focus; nil if the keyboard belongs to something outside of the workspaces, such as a screen locker.
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
    /// The types that are read: a call and its answer have the same number, and an event has the highest bit.
    enum Kind: UInt32 {
        case subscribe = 2
        case tree = 4
        case workspace = 0x8000_0000
        case window = 0x8000_0003
    }

    let type: UInt32
    let payload: [UInt8]

    var kind: Kind? { Kind(rawValue: type) }

    init(_ kind: Kind, payload: [UInt8] = []) { self.init(type: kind.rawValue, payload: payload) }

    fileprivate init(type: UInt32, payload: [UInt8]) { (self.type, self.payload) = (type, payload) }

    /// The payload, which is deep if it is a tree; nil for another text.
    var json: JSONValue? { try? JSONValue(parsing: payload[...], depth: 512) }

    static let magic = Array("i3-ipc".utf8)
    static let headerLength = magic.count + 8

    var bytes: [UInt8] {
        var bytes = Self.magic
        for number in [UInt32(payload.count), type] {
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
        let type = number(at: position + SwayMessage.magic.count + 4)
        position = start + length
        return SwayMessage(type: type, payload: Array(bytes[start..<position]))
    }

    private func number(at index: Int) -> UInt32 {
        var number: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe $0.copyBytes(from: bytes[index..<index + 4]) }
        return number
    }
}
