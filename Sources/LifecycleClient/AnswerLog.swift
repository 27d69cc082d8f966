internal import AppChannel
internal import LifecycleTypes

/// The callbacks that were received, as far as it takes to tell a repetition and to answer it.
///
/// The successor of a daemon repeats the callbacks that the app may not have received.
struct AnswerLog {
    /// The newest callback; nil before the first.
    private(set) var lastReceived: SequenceNumber?
    /// The callbacks that the app has not answered. An array: there is seldom more than one.
    private var unanswered: [SequenceNumber] = []
    /// The answers that a daemon may have lost with the one before, in the order in which they were given: those to the
    /// resignations received last, and to the callback that they may have been sent behind.
    private var answers: [(sequence: SequenceNumber, message: MessageFromApp)] = []

    /// Notes a callback, and returns false for a repetition.
    ///
    /// - Parameter isResignation: True for a callback that the daemon may send before the answer to the previous one.
    mutating func receive(_ sequence: SequenceNumber, isResignation: Bool = false) -> Bool {
        if let lastReceived, sequence <= lastReceived { return false }
        if !isResignation { answers = [] }
        lastReceived = sequence
        unanswered.append(sequence)
        return true
    }

    /// Notes an answer, and returns what says it.
    mutating func answer(_ sequence: SequenceNumber, _ answer: AppAnswer) -> MessageFromApp {
        unanswered.removeAll { $0 == sequence }
        let message = MessageFromApp.done(sequence, answer)
        answers.removeAll { $0.sequence == sequence }
        answers.append((sequence, message))
        return message
    }

    /// Returns the answer to a repetition; nil while the app handles the callback.
    func again(_ sequence: SequenceNumber) -> MessageFromApp? {
        guard !unanswered.contains(sequence) else { return nil }
        return answers.first { $0.sequence == sequence }?.message ?? .done(sequence, .plain)
    }

    var messagesToResume: [MessageFromApp] { answers.map { $0.message } }
}
