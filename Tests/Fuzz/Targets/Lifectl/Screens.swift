import ControlAPI
import LifecycleTypes

@testable import lifectl

extension FuzzTarget {
    /// What a compositor says to `lifectl follow sway`: the first byte chooses between its messages and a tree by itself.
    static let sway = FuzzTarget("sway") { bytes in
        var input = FuzzInput(bytes)
        if input.number(below: 2) == 1 { return checkTree(Array(input.rest)) }
        let pieces = input.pieces()
        let whole = messages(in: [input.rest])
        let found = messages(in: pieces)
        require(found == whole, "where messages are cut in two does not matter")
        let written = whole.messages.flatMap(\.bytes)
        require(input.rest.starts(with: written), "messages are written as they were read")
        for message in whole.messages where message.kind == .tree { checkTree(message.payload) }
    }

    private struct Reading: Equatable {
        var messages: [SwayMessage] = []
        var endsInGarbage = false
    }

    private static func messages(in pieces: [ArraySlice<UInt8>]) -> Reading {
        var buffer = SwayBuffer()
        var reading = Reading()
        for piece in pieces {
            buffer.append(Array(piece))
            do throws(SwayBuffer.Garbage) {
                while let message = try buffer.next() { reading.messages.append(message) }
            } catch {
                reading.endsInGarbage = true
                return reading
            }
        }
        return reading
    }

    private static func checkTree(_ json: [UInt8]) {
        guard let node = SwayNode(json: json) else { return }
        checkFollowing(node.observation)
    }

    /// The lines of lifed-follow-x11, and after a first byte that is odd what pactl knows of streams and clients.
    static let followed = FuzzTarget("followed") { bytes in
        var input = FuzzInput(bytes)
        if input.number(below: 2) == 1 {
            let json = Array(input.rest)
            return checkFollowing(
                Observation(playing: SinkInput.list(json: json).identified(by: SoundClient.list(json: json))))
        }
        while !input.isEmpty {
            guard let observation = Observation(x11: input.text()) else { continue }
            require(Observation(x11: line(observation)) == observation, "a line that was written is read again")
            checkFollowing(observation)
        }
    }

    /// A line that says what was seen. The focused window comes last, and so is the one that its number means.
    private static func line(_ observation: Observation) -> String {
        let visible = (observation.uses[.visible] ?? []).map { word($0, "1") }
        switch observation.focus {
        case .unknown: return (["-"] + visible).joined(separator: " ")
        case .nothing: return (["0"] + visible).joined(separator: " ")
        case .item(let item): return ([String(item.key.number)] + visible + [word(item, "0")]).joined(separator: " ")
        }
    }

    private static func word(_ item: Item, _ visible: String) -> String {
        let title = item.title.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let claim = item.key.isAttested ? "" : "?"
        return "\(item.key.number):\(item.key.process ?? 0)\(claim):\(visible):\(title)"
    }

    /// Follows what was seen until there is nothing to do, with a daemon that knows the apps of every second process.
    private static func checkFollowing(_ observation: Observation) {
        let processes = observation.items.compactMap(\.key.process)
        require(processes.allSatisfy { $0 > 0 }, "a process has a number")
        require(observation.uses.allSatisfy { $0.value.count <= Observation.limit }, "there are only so many windows")
        var follower = Follower()
        follower.observe(observation, at: 0)
        var steps = 0
        // Each process is asked for once, each use is told, and there is one request.
        while let step = follower.next(at: 0, isBusy: false) {
            steps += 1
            require(steps <= observation.items.count + observation.uses.count + 1, "a follower comes to rest")
            take(step, &follower, Set(processes))
        }
    }

    private static func take(_ step: Follower.Step, _ follower: inout Follower, _ processes: Set<Int64>) {
        require(!step.words.isEmpty, "a step has words")
        switch step {
        case .find(let key):
            let process = key.process ?? 0
            require(processes.contains(process), "whose a process is is asked of one that was seen")
            follower.setApp(process.isMultiple(of: 2) ? "app-\(process)" : nil, of: key)
        case .use(let use, let apps):
            require(apps.allSatisfy { name in processes.contains { name == "app-\($0)" } }, "what is used was seen")
            follower.setReported(use, apps)
        case .focus(let app, let item):
            require(item.key.process.map { app == "app-\($0)" } == true, "who has the focus is whose window has it")
        case .home, .leave: break
        }
    }
}
