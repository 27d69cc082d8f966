// Events as they are saved: the parts of one are separated by a character that no text of a person has. In the text of
// somebody else it is written as an escape.

extension QueuedEvent {
    private static let separator: Unicode.Scalar = "\u{1F}"

    var text: String {
        let parts: [String] =
            switch event {
            case .openURL(let url, let type, let source): [type ?? "", source ?? "", url]
            case .continueActivity(let type, let info): [type, info]
            case .performTask(let kind, let payload): [kind, payload]
            default: []
            }
        return ([String(number), event.callback.rawValue] + parts.map(\.escaped))
            .joined(separator: String(Self.separator))
    }

    init?(text: String) {
        let parts = text.words(separator: Self.separator, maxSplits: 4)
        guard parts.count >= 2, let number = UInt64(parts[0]), let callback = Callback(rawValue: parts[1]),
            let event = AppEvent(callback, parts.dropFirst(2).map(\.unescaped))
        else { return nil }
        self.init(number: number, event: event)
    }
}

extension String {
    private static let escape: Unicode.Scalar = "\u{1E}"

    /// The text without separators, and with an escape before each sign that stands for one.
    fileprivate var escaped: String {
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar {
            case "\u{1F}": text += [Self.escape, "f"]
            case Self.escape: text += [Self.escape, "e"]
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    fileprivate var unescaped: String {
        var text = UnicodeScalarView()
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, rest.first) {
            case (Self.escape, "f"): text.append("\u{1F}")
            case (Self.escape, "e"): text.append(Self.escape)
            default:
                text.append(scalar)
                continue
            }
            rest.removeFirst()
        }
        return String(text)
    }
}

extension AppEvent {
    fileprivate init?(_ callback: Callback, _ parts: [String]) {
        switch (callback, parts.count) {
        case (.openURL, 3):
            self = .openURL(
                parts[2], type: parts[0].isEmpty ? nil : parts[0], source: parts[1].isEmpty ? nil : parts[1])
        case (.continueActivity, 2): self = .continueActivity(type: parts[0], info: parts[1])
        case (.performTask, 2): self = .performTask(kind: parts[0], payload: parts[1])
        case (.memoryWarning, 0): self = .memoryWarning
        case (.protectedDataWillBecomeUnavailable, 0): self = .protectedDataWillBecomeUnavailable
        case (.protectedDataDidBecomeAvailable, 0): self = .protectedDataDidBecomeAvailable
        case (.significantTimeChange, 0): self = .significantTimeChange
        default: return nil
        }
    }
}

extension Delivery {
    /// A task that an app works on.
    func saveTask(in record: inout SavedRecord) {
        record.add("task", event?.text)
        record.add("task-sequence", String(sequence))
        record.add("task-until", deadline)
        record.add("task-state", state.rawValue)
    }
}

extension App {
    func savedTask(in record: SavedRecord) -> Delivery? {
        guard let event = record["task"].flatMap({ QueuedEvent(text: $0) }), event.event.callback == .performTask,
            let sequence = record.number("task-sequence"), let deadline = record.instant("task-until"),
            let told = record.word("task-state", as: AppState.self)
        else { return nil }
        var delivery = delivery(of: Notice(.performTask), sequence: sequence, deadline: deadline, state: told)
        delivery.event = event
        return delivery
    }
}
