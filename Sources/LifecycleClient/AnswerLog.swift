internal import AppChannel

/// The callbacks that were received, as far as it takes to tell a repetition and to answer it.
///
/// A daemon that takes over from one that died says again what the app may not have heard.
struct AnswerLog {
    /// The newest callback, or nil before the first.
    private(set) var lastReceived: SequenceNumber?
    /// What the app is still dealing with. An array: there is seldom more than one.
    private var unanswered: [SequenceNumber] = []
    /// The answers that a daemon may have lost with the one before, in the order in which they were given: those to the
    /// resignations received last, and to the callback that they may have been sent behind.
    private var answers: [(sequence: SequenceNumber, message: MessageFromApp)] = []

    /// Notes a callback; false for one that was received before.
    ///
    /// - Parameter isResignation: Whether it may come before the daemon has the answer to the one before.
    mutating func receive(_ sequence: SequenceNumber, isResignation: Bool = false) -> Bool {
        if let lastReceived, sequence <= lastReceived { return false }
        if !isResignation { answers = [] }
        lastReceived = sequence
        unanswered.append(sequence)
        return true
    }

    /// Notes an answer, and returns what says it.
    mutating func answer(_ sequence: SequenceNumber, _ answer: CallbackAnswer) -> MessageFromApp {
        unanswered.removeAll { $0 == sequence }
        let message = MessageFromApp.done(sequence, answer)
        answers.removeAll { $0.sequence == sequence }
        answers.append((sequence, message))
        return message
    }

    /// What answers a callback that was received before, or nil while the app is dealing with it.
    func again(_ sequence: SequenceNumber) -> MessageFromApp? {
        guard !unanswered.contains(sequence) else { return nil }
        return answers.first { $0.sequence == sequence }?.message ?? .done(sequence, .plain)
    }

    var messagesToResume: [MessageFromApp] { answers.map { $0.message } }
}
