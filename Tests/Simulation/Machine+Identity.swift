import LifecycleCore

/// What tells two machines apart, whatever the time and however many callbacks have been.
extension Machine {
    func identity(_ commandsLeft: Int, _ exitsLeft: Int) -> String {
        var text = "\(commandsLeft) \(exitsLeft)"
        for field in core.record.fields { text += "|\(field.name)=\(relative(field.name, field.value, 0))" }
        for id in core.knownApps.keys.sorted() { describe(id, in: &text) }
        for entry in queue.ordered { text += "|" + describe(entry.event) }
        for number in open.keys.sorted() { text += "|\(number)" }
        text += "|\(inner(core, "waitingForPlace"))"
        return text
    }

    private func describe(_ id: AppID, in text: inout String) {
        guard let app = core.knownApps[id] else { return }
        let last = core.record(of: id)?["sequence"].flatMap { UInt64($0) } ?? 0
        for field in core.record(of: id)?.fields ?? [] {
            text += "|\(field.name)=\(relative(field.name, field.value, last))"
        }
        if !open.isEmpty { text += "|\(inner(app, "waiters"))" }
        guard let tree = trees[id] else { return }
        let watch = tree.watch
        text += "|\(tree.runs)\(tree.isStopped)\(tree.isSeenStopped)\(tree.mainStatus != nil)\(tree.isGone)"
        text += "\(tree.asked != nil)\(tree.killed != nil)\(tree.hasSaidHello)\(tree.isBusy)\(tree.wantsToSayHello)"
        for told in tree.inbox {
            if case .callback(let delivery) = told { text += " \(delivery.callback)\(last - delivery.sequence)" }
        }
        text += " \(String(describing: watch.automaton.last))\(watch.automaton.wasLate)\(watch.believesActive)"
        for (scene, automaton) in watch.automaton.scenes.sorted(by: { $0.key < $1.key }) {
            text += " \(scene)\(String(describing: automaton.last))\(watch.scenes[scene]?.believesActive ?? false)"
        }
        text += watch.outstanding.map { " \($0.callback)" } ?? ""
        for delivery in watch.resignations { text += " \(delivery.callback)" }
    }

    private func describe(_ event: Event) -> String {
        guard case .line(let id, .done(let sequence, let answer), _) = event else { return event.withoutLaunch }
        let last = core.record(of: id)?["sequence"].flatMap { UInt64($0) } ?? 0
        return "\(id) done \(last &- sequence) \(answer)"
    }

    /// Times count from now, and numbers from the last one; what is long past is all the same.
    private func relative(_ name: String, _ value: String, _ last: UInt64) -> String {
        switch name {
        case "sent", "sequence", "last-event": return ""
        case "told-sequence", "task-sequence": return UInt64(value).map { String(last &- $0) } ?? value
        case "since", "scenes-end-began", "in-background-since", "launched", "last-in-front", "memory-warned":
            guard let time = UInt64(value) else { return value }
            return String(min(now.microseconds &- time, 61_000_000))
        case "answer-by", "task-until":
            return UInt64(value).map { String(Int64($0) - Int64(now.microseconds)) } ?? value
        case "resignation":
            let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            guard parts.count > 3, let sequence = UInt64(parts[0]), let deadline = Int64(parts[1]) else { return value }
            return "\(last &- sequence):\(deadline - Int64(now.microseconds)):\(parts[4...].joined(separator: ":"))"
        case "deadline":
            let parts = value.split(separator: ":")
            guard parts.count == 2, let time = Int64(parts[1]) else { return value }
            return "\(parts[0]):\(time - Int64(now.microseconds))"
        case "scene":
            let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            return parts.enumerated().map { place, part in
                // Since when it is where it is, and when it was in the foreground the last time.
                guard place == 5 || place == 8, let time = UInt64(part) else { return part }
                return String(min(now.microseconds &- time, 61_000_000))
            }.joined(separator: " ")
        case "exit": return String(value.drop { $0 != ":" })
        default: return value
        }
    }

    /// A part that the core does not show, and that no record has.
    private func inner(_ whole: some Any, _ name: String) -> String {
        Mirror(reflecting: whole).descendant(name).map { "\($0)" } ?? ""
    }
}

extension Event {
    fileprivate var withoutLaunch: String {
        switch self {
        case .notice(let id, let outcome, _): "\(id) \(outcome)"
        case .line(let id, let message, _): "\(id) \(message)"
        case .turn(let id, _): "\(id) turn"
        case .taskDone(let id, _, _): "\(id) task"
        case .comeBack(let id, _): "\(id) back"
        case .describedAgain(let id): "\(id) described"
        case .look(let level): "\(level)"
        }
    }
}
