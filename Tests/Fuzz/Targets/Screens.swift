import ControlAPI
import LifecycleTypes

@testable import Desktop

extension FuzzTarget {
    /// What sway says to lifed-desktop: the first byte chooses between its messages and a tree by itself.
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
        let message = SwayMessage(.tree, payload: json)
        guard let node = message.json.flatMap({ try? SwayNode(json: $0) }) else { return }
        checkFollowing(node.observation)
    }

    /// What pactl knows of streams and clients.
    static let streams = FuzzTarget("streams") { bytes in
        let json = Array(bytes)
        checkFollowing(
            Observation(playing: SoundEntry.list(json: json).identified(by: SoundEntry.list(json: json))))
    }

    /// Follows what was seen until there is nothing to do, with a daemon that knows the apps of every second process, and of
    /// claims of an even length.
    private static func checkFollowing(_ observation: Observation) {
        let owners = observation.items.map(\.key.owner)
        let processes = owners.compactMap(\.process)
        require(processes.allSatisfy { $0 > 0 }, "a process has a number")
        require(observation.uses.allSatisfy { $0.value.count <= Observation.limit }, "there are only so many windows")
        var follower = Follower()
        follower.observe(observation, at: 0)
        var steps = 0
        // Each process is asked for once, each use is told, and there is one request.
        while let step = follower.next(at: 0, isBusy: false) {
            steps += 1
            require(steps <= observation.items.count + observation.uses.count + 1, "a follower comes to rest")
            perform(step, &follower, Set(owners))
        }
    }

    private static func perform(_ step: Follower.Step, _ follower: inout Follower, _ owners: Set<Item.Owner>) {
        require(!step.words.isEmpty, "a step has words")
        switch step {
        case .find(let key):
            require(owners.contains(key.owner), "whose a process is is asked of one that was seen")
            follower.setApp(app(of: key.owner), of: key)
        case .use(let use, let apps):
            require(Set(apps).isSubset(of: Set(owners.compactMap(app))), "what is used was seen")
            follower.setReported(use, apps)
        case .focus(let app, let item):
            require(app == self.app(of: item.key.owner), "who has the focus is whose window has it")
        case .home, .leave: break
        }
    }

    private static func app(of owner: Item.Owner) -> String? {
        switch owner {
        case .unknown: nil
        case .process(let process), .claimedProcess(let process): process.isMultiple(of: 2) ? "app-\(process)" : nil
        case .claimedApp(let id): id.utf8.count.isMultiple(of: 2) ? "claim-\(id)" : nil
        }
    }
}
