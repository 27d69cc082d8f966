import LifecycleCore
import Processes
import Systemd

/// The connections of processes to a bus, and the owners of names, as far as they were asked for.
///
/// A unique name stands for one connection as long as the bus lives, so its process is asked for once.
final class BusConnections {
    /// The processes by the unique names of their connections.
    private var processes: [String: ProcessID] = [:]
    private let names = WatchedNames()
    /// The number of answers that a refresh waits for; nil while there is none.
    private var openCalls: Int?

    /// An app whose connection is beyond this number is not seen to be called.
    private static let limit = 4096

    func process(of name: String) -> ProcessID? { processes[name] }

    /// Returns the given apps by the unique names of their connections.
    func apps(among apps: Set<AppIndex>, _ running: AppProcesses) -> [String: AppIndex] {
        var owners: [ProcessID: AppIndex] = [:]
        for app in apps {
            for pid in running.tree(of: app)?.processIDs ?? [] { owners[pid] = app }
        }
        return processes.compactMapValues { owners[$0] }
    }

    /// Asks the bus for the connections that are not known.
    ///
    /// - Parameter done: Called when the bus has answered.
    /// - Returns: False if a refresh is under way.
    func refresh(over bus: Bus, done: @escaping () -> Void) -> Bool {
        guard openCalls == nil else { return false }
        openCalls = 1
        bus.call(.bus("ListNames")) { [weak self] reply in
            let listed = (try? reply.get().first?.elements) ?? []
            let names = listed.compactMap(\.text).filter { $0.utf8.first == UInt8(ascii: ":") }.prefix(Self.limit)
            self?.ask(for: Set(names), over: bus, done)
        }
        return true
    }

    private func ask(for names: Set<String>, over bus: Bus, _ done: @escaping () -> Void) {
        processes = processes.filter { names.contains($0.key) }
        let new = names.filter { processes[$0] == nil }
        openCalls = new.count + 1
        for name in new { askForProcess(of: name, over: bus) { [weak self] in self?.noteAnswer(done) } }
        noteAnswer(done)
    }

    private func askForProcess(of name: String, over bus: Bus, _ done: @escaping () -> Void) {
        bus.processID(of: name) { [weak self] process in
            self?.processes[name] = process
            done()
        }
    }

    /// Asks for the process of a connection that is newer than the latest refresh.
    func learn(_ name: String, over bus: Bus) {
        if processes[name] == nil, processes.count < Self.limit { askForProcess(of: name, over: bus) {} }
    }

    private func noteAnswer(_ done: () -> Void) {
        guard let open = openCalls else { return }
        openCalls = open > 1 ? open - 1 : nil
        if open == 1 { done() }
    }

    /// Calls a function with the unique name of a name's owner; never if there is none.
    func withOwner(of name: String, over bus: Bus, then: @escaping (String) -> Void) {
        names.withOwner(of: name, over: bus, then)
    }
}

/// The owners of the well-known names that were called. A name that changes hands is followed.
final class WatchedNames {
    private var names: [String: BusName] = [:]
    /// The names in the order in which they were called first.
    private var order: [String] = []
    private var waiting: [String: [(String) -> Void]] = [:]

    /// The names of a session are some dozens.
    private static let limit = 256
    private static let waitingLimit = 16

    func withOwner(of name: String, over bus: Bus, _ body: @escaping (String) -> Void) {
        if let owner = names[name]?.owner { return body(owner) }
        guard names[name] == nil else {
            if waiting[name, default: []].count < Self.waitingLimit { waiting[name, default: []].append(body) }
            return
        }
        if names.count >= Self.limit { forgetOne() }
        order.append(name)
        waiting[name] = [body]
        names[name] = bus.watchName(name) { [weak self] owner in
            guard let owner else { return }
            for each in self?.waiting.removeValue(forKey: name) ?? [] { each(owner) }
        }
    }

    /// Forgets the oldest name without an owner, or else the oldest one, so that calls to any number of names do not use up the
    /// room for others.
    private func forgetOne() {
        guard let index = order.firstIndex(where: { names[$0]?.owner == nil }) ?? order.indices.first else { return }
        let name = order.remove(at: index)
        names[name] = nil
        waiting[name] = nil
    }
}

extension BusCall {
    /// Returns a call to the bus itself.
    static func bus(_ member: String, _ arguments: [Argument] = []) -> BusCall {
        BusCall(
            "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: member,
            arguments: arguments)
    }
}

extension Bus {
    /// Asks for the process of a connection.
    ///
    /// - Parameter handle: Called with the process; with nil if the connection has gone.
    func processID(of name: String, then handle: @escaping (ProcessID?) -> Void) {
        call(.bus("GetConnectionUnixProcessID", [.text(name)])) { reply in
            let number = (try? reply.get().first?.unsigned).flatMap { $0 }
            handle(number.flatMap { ProcessID(exactly: $0) })
        }
    }

    /// The path of the bus's socket, or its abstract name after a zero; nil for another kind of address.
    var socketPath: String? {
        for word in address.split(whereSeparator: { $0 == ":" || $0 == "," || $0 == ";" }) {
            if word.hasPrefix("path=") { return String(word.dropFirst("path=".count)) }
            if word.hasPrefix("abstract=") { return "\0" + word.dropFirst("abstract=".count) }
        }
        return nil
    }
}
