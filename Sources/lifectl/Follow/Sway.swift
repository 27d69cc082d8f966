import ControlAPI
import FoundationEssentials
import Glibc

/// sway, through its control socket. Whenever something has changed the whole tree is asked for, once at a time: however
/// many changes there are meanwhile, the tree after the last is what counts.
final class SwaySource: Source {
    private let socket: LocalSocket
    private var buffer = SwayBuffer()
    private var isTreeAwaited = false
    private var hasChanged = true

    private struct Event: Decodable { let change: String? }
    private struct Success: Decodable { let success: Bool }

    /// Changes of a window that change nothing about focus. Titles change all the time.
    private static let unimportant: Set<String> = ["title", "mark", "urgent"]

    init(path: String) throws(SourceLost) {
        socket = try LocalSocket(path: path)
        let events = Array(#"["window","workspace","shutdown"]"#.utf8)
        try socket.send(SwayMessage(kind: .subscribe, payload: events).bytes)
        try askForTree()
    }

    /// Connects to the sway that is named in the environment, or to one that is found where they have their sockets.
    static func find(environment: [String: String]) throws(Failure) -> SwaySource {
        let paths = SwaySocket.candidates(environment: environment)
        for path in paths { if let source = try? SwaySource(path: path) { return source } }
        throw Failure(status: .unavailable, message: SwaySocket.absence(environment: environment, tried: paths))
    }

    var descriptor: CInt { socket.descriptor }

    func read() throws(SourceLost) -> Observation? {
        buffer.append(try socket.read())
        var newest: Observation?
        do throws(SwayBuffer.Garbage) {
            while let message = try buffer.next() {
                if let observation = try take(message) { newest = observation }
            }
        } catch {
            throw SourceLost(reason: "sway says what is no message of its own")
        }
        if hasChanged, !isTreeAwaited { try askForTree() }
        // Another tree is on its way, and this one is about what is over.
        return hasChanged ? nil : newest
    }

    private func askForTree() throws(SourceLost) {
        try socket.send(SwayMessage(kind: .tree, payload: []).bytes)
        isTreeAwaited = true
        hasChanged = false
    }

    private func take(_ message: SwayMessage) throws(SwayBuffer.Garbage) -> Observation? {
        switch message.kind {
        case .tree:
            isTreeAwaited = false
            guard let node = SwayNode(json: message.payload) else { throw SwayBuffer.Garbage() }
            return node.observation
        case .subscribe:
            guard let answer = try? JSONDecoder().decode(Success.self, from: Data(message.payload)), answer.success
            else { throw SwayBuffer.Garbage() }
        case .window:
            let event = try? JSONDecoder().decode(Event.self, from: Data(message.payload))
            if !Self.unimportant.contains(event?.change ?? "") { hasChanged = true }
        case .workspace: hasChanged = true
        // Its socket closes in a moment.
        case .shutdown, .other: break
        }
        return nil
    }
}

/// Where sway's socket is.
enum SwaySocket {
    static let variable = "SWAYSOCK"

    /// The one that the environment names, and else, as after sway was started again, those that are there.
    static func candidates(environment: [String: String]) -> [String] {
        let named = environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        let directory = environment["XDG_RUNTIME_DIR"] ?? ""
        guard directory.hasPrefix("/") else { return [named].compactMap(\.self) }
        let found: [String] = Directory.names(in: directory)
            .filter { $0.hasPrefix("sway-ipc.") && $0.hasSuffix(".sock") }
            .map { "\(directory)/\($0)" }
        return [named].compactMap(\.self) + found.sorted().filter { $0 != named }
    }

    /// What was looked for, in words.
    static func absence(environment: [String: String], tried: [String]) -> String {
        if environment["I3SOCK"].map({ !$0.isEmpty }) == true, tried.isEmpty {
            return
                "cannot follow sway: this is i3, which does not say whose a window is; 'lifectl follow x11' follows it"
        }
        let places =
            tried.isEmpty
            ? "there is no sway-ipc.*.sock in XDG_RUNTIME_DIR"
            : "nobody listens at "
                + tried.joined(separator: " or ")
        let named = environment[variable, default: ""].isEmpty ? "SWAYSOCK is not set, and " : ""
        return "cannot follow sway: \(named)\(places)"
    }
}

/// A node of sway's tree of outputs, workspaces, containers and windows, as far as focus goes.
struct SwayNode: Decodable {
    var id: UInt64
    var name: String?
    var pid: Int64?
    var focused: Bool
    var visible: Bool?
    /// The children's ids, the one that had the focus last first.
    var focus: [UInt64]
    var nodes: [SwayNode]
    var floating: [SwayNode]

    private enum CodingKeys: String, CodingKey {
        case id, name, pid, focused, visible, focus, nodes
        case floating = "floating_nodes"
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        id = try values.decodeIfPresent(UInt64.self, forKey: .id) ?? 0
        name = try values.decodeIfPresent(String.self, forKey: .name)
        pid = try values.decodeIfPresent(Int64.self, forKey: .pid)
        focused = try values.decodeIfPresent(Bool.self, forKey: .focused) ?? false
        visible = try values.decodeIfPresent(Bool.self, forKey: .visible)
        focus = try values.decodeIfPresent([UInt64].self, forKey: .focus) ?? []
        nodes = try values.decodeIfPresent([SwayNode].self, forKey: .nodes) ?? []
        floating = try values.decodeIfPresent([SwayNode].self, forKey: .floating) ?? []
    }

    init?(json: [UInt8]) {
        guard let node = try? JSONDecoder().decode(SwayNode.self, from: Data(json)) else { return nil }
        self = node
    }

    private var children: [SwayNode] { nodes + floating }

    /// A window has a process, and nothing in it.
    private var item: Item? {
        guard let pid, children.isEmpty else { return nil }
        return Item(number: id, process: pid, title: name ?? "")
    }

    /// What a person sees, and what has the keyboard.
    var observation: Observation {
        var observation = Observation()
        var visible: [Item] = []
        gather(&visible)
        observation.uses[.visible] = visible
        if let focused = focusedNode {
            observation.focus = focused.latestItem.map { .item($0) } ?? .nothing
        }
        return observation
    }

    private func gather(_ visible: inout [Item]) {
        guard visible.count < Observation.limit else { return }
        if self.visible == true, let item { visible.append(item) }
        for child in children { child.gather(&visible) }
    }

    /// None where something that is in no workspace has the keyboard, as the screen of a locker has.
    private var focusedNode: SwayNode? {
        if focused { return self }
        for child in children { if let node = child.focusedNode { return node } }
        return nil
    }

    /// The window of a container, or of a workspace, that had the focus last.
    private var latestItem: Item? {
        if let item { return item }
        let order = focus.compactMap { id in children.first { $0.id == id } }
        for child in order.isEmpty ? children : order { if let item = child.latestItem { return item } }
        return nil
    }
}

/// A message of sway's control socket, sway-ipc(7): the magic words, a length and a type in the machine's byte order, and
/// JSON.
struct SwayMessage: Equatable {
    /// What it is: a kind of call, the same kind in its answer, or an event, which has the highest bit.
    enum Kind: Equatable {
        case subscribe, tree
        /// An event that windows have come, gone or changed.
        case window
        /// An event about workspaces.
        case workspace
        /// An event that sway ends.
        case shutdown
        case other(UInt32)

        static func named(_ number: UInt32) -> Kind {
            all.first { $0.number == number } ?? .other(number)
        }

        private static let all: [Kind] = [.subscribe, .tree, .window, .workspace, .shutdown]

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

    /// The message as it goes over the socket.
    var bytes: [UInt8] {
        var bytes = Self.magic
        for number in [UInt32(payload.count), kind.number] {
            unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes + payload
    }
}

/// What has come over sway's socket and has not been read.
struct SwayBuffer {
    /// Something that is no message of sway's, or a message longer than any tree is.
    struct Garbage: Error, Equatable {}

    /// The longest message that is taken, in bytes: far more than the tree of a screen full of windows.
    static let limit = 16 << 20

    private var bytes: [UInt8] = []
    private var position = 0

    mutating func append(_ new: [UInt8]) {
        bytes.removeFirst(position)
        position = 0
        bytes += new
    }

    /// The next message; nil as long as it is not all there.
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
