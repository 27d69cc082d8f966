import LifecycleCore

/// Every history of a small world up to a number of happenings: all orders of commands, answers, notices, deadlines and
/// ends, by breadth-first search over the values of the whole machine.
package struct Exploration: Sendable {
    /// One happening that is possible somewhere.
    fileprivate enum Choice: Sendable {
        case command(Int)
        /// The event at this place of the queue.
        case event(Int)
        /// The next deadline comes.
        case deadline
        /// The main process of an app ends.
        case exit(AppID)
    }

    fileprivate struct Node: Sendable {
        var machine: Machine
        var path: [Choice]
        var commandsLeft: Int
        var exitsLeft: Int
    }

    fileprivate struct Key: Hashable {
        let first: UInt64
        let second: UInt64
    }

    package let setup: Setup
    package let commands: [Action]
    /// The number of new states each further happening has led to.
    package private(set) var states: [Int] = []
    package private(set) var inputs = 0
    package private(set) var rested = 0
    /// The broken promise, and the steps to it.
    package private(set) var failure: (problems: [String], story: [Happening])?
    private var seen: Set<Key> = []
    private var frontier: [Node]

    package init(_ setup: Setup, commands: [Action], inFlight: Int = 3, exits: Int = 2) {
        self.setup = setup
        self.commands = commands
        let machine = Machine(setup, chance: Chance(seed: nil))
        frontier = [Node(machine: machine, path: [], commandsLeft: inFlight, exitsLeft: exits)]
    }

    package var total: Int { seen.count }
    package var isExhausted: Bool { frontier.isEmpty }

    /// Goes one happening further from every state that was new.
    package mutating func deepen() {
        var next: [Node] = []
        for node in frontier where failure == nil {
            for choice in choices(of: node) {
                var successor = node
                successor.perform(choice, commands)
                inputs += successor.machine.inputs - node.machine.inputs
                guard successor.machine.problems.isEmpty else { return fail(successor) }
                let key = Key(successor.machine.identity(successor.commandsLeft, successor.exitsLeft))
                guard seen.insert(key).inserted else { continue }
                // From some of them, it is tried whether all comes to rest.
                if key.first % 32 == 0 { rest(successor) }
                next.append(successor)
            }
        }
        states.append(next.count)
        frontier = next
    }

    private func choices(of node: Node) -> [Choice] {
        var choices: [Choice] = []
        if node.commandsLeft > 0 { choices += commands.indices.map { .command($0) } }
        choices += node.machine.possibleEvents.map { .event($0) }
        if node.machine.core.nextDeadline != nil { choices.append(.deadline) }
        if node.exitsLeft > 0 {
            choices += node.machine.trees.filter { $0.value.runs && $0.value.mainStatus == nil }.keys.sorted().map {
                .exit($0)
            }
        }
        return choices
    }

    private mutating func rest(_ node: Node) {
        var node = node
        node.machine.expectRest(Chance(seed: nil))
        rested += 1
        if !node.machine.problems.isEmpty { fail(node) }
    }

    private mutating func fail(_ node: Node) {
        var again = Node(
            machine: Machine(setup, chance: Chance(seed: nil), isTold: true), path: [], commandsLeft: .max,
            exitsLeft: .max)
        for choice in node.path { again.perform(choice, commands) }
        if again.machine.problems.isEmpty { again.machine.expectRest(Chance(seed: nil)) }
        failure = (node.machine.problems, again.machine.story)
    }
}

extension Exploration.Node {
    fileprivate mutating func perform(_ choice: Exploration.Choice, _ commands: [Action]) {
        path.append(choice)
        switch choice {
        case .command(let index):
            commandsLeft -= 1
            machine.perform(commands[index])
        case .event(let place): machine.happen(at: place)
        case .deadline: machine.passToDeadline()
        case .exit(let id):
            exitsLeft -= 1
            machine.endNow(id)
        }
    }
}

extension Exploration.Key {
    fileprivate init(_ text: String) {
        var (first, second): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x9E37_79B9_7F4A_7C15)
        for byte in text.utf8 {
            first = (first ^ UInt64(byte)) &* 0x100_0000_01B3
            second = (second ^ UInt64(byte)) &* 0xC6A4_A793_5BD1_E995
            second ^= second >> 29
        }
        self.init(first: first, second: second)
    }
}

extension Machine {
    /// The places in the queue of what may happen next: what the kernel says of one app comes in its order, and so does
    /// what an app says; all the rest comes in any.
    fileprivate var possibleEvents: [Int] {
        var streams: Set<String> = []
        var places: [Int] = []
        for (place, entry) in queue.ordered.enumerated() where streams.insert(entry.event.stream).inserted {
            places.append(place)
        }
        return places
    }

    fileprivate mutating func happen(at place: Int) { happen(queue.take(at: place).event) }

    fileprivate mutating func passToDeadline() {
        guard let due = core.nextDeadline else { return }
        now = max(now, due)
        handle(.tick)
    }

    fileprivate mutating func endNow(_ id: AppID) {
        guard let tree = trees[id] else { return }
        notice(id, .exited(tree.isStopped ? .signal(9) : .signal(11), othersLeft: false))
    }
}

extension Event {
    fileprivate var stream: String {
        switch self {
        case .notice(let id, _, _): "kernel \(id)"
        case .line(let id, _, _): "line \(id)"
        case .turn(let id, _): "turn \(id)"
        case .taskDone(let id, _, _): "task \(id)"
        case .comeBack(let id, _): "back \(id)"
        case .describedAgain(let id): "described \(id)"
        case .look: "look"
        }
    }
}
