import Glibc
import Testing

@testable import Processes

/// What a world that dies leaves to the next daemon: written to its standard output, and read from there.
struct Legacy {
    let base: Cgroup?
    let keepers: String
    let trees: [SavedTree]

    init(_ text: String) throws {
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("legacy ") }.map { $0.split(separator: " ") }
        let first = try #require(lines.first)
        keepers = String(first[1])
        base = first.count < 4 ? nil : Cgroup(mountPoint: String(first[2]), name: String(first[3]))
        trees = try lines.dropFirst().map { try SavedTree(words: $0.dropFirst().map(String.init)) }
    }

    /// The only tree.
    var tree: SavedTree {
        get throws { try #require(trees.first) }
    }
}

extension ExitTest.Result? {
    /// What a process that was killed had said.
    var said: String { self.map { String(decoding: $0.standardOutputContent, as: UTF8.self) } ?? "" }
}

extension Hold {
    /// What a process leaves that launches a program, stops it, and dies.
    func dieAfterStopping(_ program: String, until word: String = "ready") async -> String {
        let previous = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            [hold = self as Hold, program, word] in
            let world = try hold.world()
            let (tree, _) = try world.launch(program, until: word, by: hold.method)
            _ = tree.stop()
            try world.waitUntilStopped(tree)
            world.die(leaving: [tree])
        }
        return previous.said
    }
}

extension ProcessWorld {
    /// A world in the place of one that has died.
    convenience init(succeeding legacy: Legacy) throws {
        try self.init(base: legacy.base, keepers: legacy.keepers)
    }

    /// Ends this process as suddenly as can be. Its trees go on.
    func die(leaving trees: [ProcessTree]) {
        die(leaving: trees.map(\.saved))
    }

    func die(leaving saved: [SavedTree]) {
        print("legacy", keepers, base.map { "\($0.mountPoint) \($0.name)" } ?? "")
        for tree in saved { print("legacy", tree.words.joined(separator: " ")) }
        fflush(nil)
        kill(getpid(), SIGKILL)
    }

    /// Restores a tree of which something is left.
    func restore(_ saved: SavedTree, pidfd: consuming Descriptor? = nil) throws -> ProcessTree {
        guard case .alive(let tree) = table.restore(saved, pidfd: pidfd) else { throw NothingIsLeft() }
        return tree
    }
}

struct NothingIsLeft: Error {}

extension Restoration {
    /// Its exit status, if nothing is left.
    var end: WaitStatus? {
        if case .ended(let status) = self { status } else { nil }
    }
}

extension ProcessIdentity {
    init(of pid: ProcessID) throws {
        self = try #require(try ProcessStatus(of: pid)).identity
    }

    fileprivate init(word: some StringProtocol) throws {
        let numbers = word.split(separator: ":")
        self.init(pid: try #require(ProcessID(numbers[0])), startTime: try #require(UInt64(numbers[1])))
    }

    fileprivate var word: String { "\(pid):\(startTime)" }
}

extension Descendants {
    /// The processes below a keeper.
    static func below(_ pid: ProcessID) -> [ProcessStatus] {
        var descendants = Descendants()
        descendants.addChildren(of: pid, threadCount: 1)
        return descendants.look.members
    }
}

extension SavedTree {
    /// A tree of which nothing is known but its main process, which was adopted.
    init(adopted main: ProcessIdentity) throws {
        try self.init(main: main)
        isAdopted = true
    }

    /// A tree of which nothing is known but its main process.
    init(main: ProcessIdentity, token: String = "1-0") throws {
        self.init(token: try #require(LaunchToken(rawValue: token)), main: main)
    }

    fileprivate init(words: [String]) throws {
        let methods: [String: SuspendMethod] = ["signal": .signal, "freezer": .freezer, "both": .both]
        let states: [String: ProcessTree.DesiredState] = ["running": .running, "stopped": .stopped, "ended": .ended]
        try self.init(main: try ProcessIdentity(word: words[1]), token: words[0])
        cgroup = words[2] == "-" ? nil : words[2]
        suspendMethod = try #require(methods[words[3]])
        desiredState = try #require(states[words[4]])
        keeper = words[5] == "-" ? nil : try ProcessIdentity(word: words[5])
        stoppedByOthers = try words.dropFirst(6).map { try ProcessIdentity(word: $0) }
    }

    fileprivate var words: [String] {
        [token.rawValue, main.word, cgroup ?? "-", "\(suspendMethod)", "\(desiredState)", keeper?.word ?? "-"]
            + stoppedByOthers.map(\.word)
    }
}
