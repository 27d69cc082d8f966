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
