internal import AppChannel

/// The callbacks that were received, as far as it takes to tell a repetition and to answer it.
///
/// A daemon that takes over from one that died says again what the app may not have heard.
struct AnswerLog {
    /// The newest callback, or nil before the first.
    private(set) var lastReceived: SequenceNumber?
    /// What the app is still dealing with. An array: there is seldom more than one.
    private var unanswered: [SequenceNumber] = []
    private var lastAnswer: MessageFromApp?
    private var lastAnswered: SequenceNumber?

    /// Notes a callback; false for one that was received before.
    mutating func receive(_ sequence: SequenceNumber) -> Bool {
        if let lastReceived, sequence <= lastReceived { return false }
        lastReceived = sequence
        unanswered.append(sequence)
        return true
    }

    /// Notes an answer, and returns what says it.
    mutating func answer(_ sequence: SequenceNumber, _ answer: CallbackAnswer) -> MessageFromApp {
        unanswered.removeAll { $0 == sequence }
        let message = MessageFromApp.done(sequence, answer)
        (lastAnswered, lastAnswer) = (sequence, message)
        return message
    }

    /// What answers a callback that was received before, or nil while the app is dealing with it.
    func again(_ sequence: SequenceNumber) -> MessageFromApp? {
        guard !unanswered.contains(sequence) else { return nil }
        return lastAnswered == sequence ? lastAnswer : .done(sequence, .plain)
    }
}
