/// What follows each event of the loop: the core handles what has happened, clients get their replies, and then the journal, the
/// history and the subscribers are told. Calls of clients are handled here, one after the other, each in a turn of its own.
///
/// Nothing re-enters: parts append what has happened to the inbox of the core, or keep it until they are asked here.
final class Turn {
    private let manager: AppManager
    private let control: ControlService
    private let log: Log

    init(manager: AppManager, control: ControlService, log: Log) {
        self.manager = manager
        self.control = control
        self.log = log
    }

    func run() {
        finish()
        while let call = control.server.takeCall() {
            control.notice(call)
            finish()
            // The end of an app, or a full buffer of a subscriber, closes connections.
            if call.connection.isOpen { control.handle(call) }
            finish()
            manager.candidates = [:]
            manager.suspensions?.noteOccasion()
        }
        log.writeUrgent()
        if log.isWritten { manager.entriesWritten() }
        manager.store.commit()
    }

    /// Handles inputs until none is left, and only then sends replies: a reply promises the effect.
    private func finish() {
        repeat {
            control.forgetClosedConnections()
            manager.handleInputs()
            for (id, reply) in manager.takeReplies() { control.send(reply, to: id) }
            control.publish(manager.announce())
        } while !manager.driver.inbox.isEmpty || control.server.hasClosedConnections
        manager.forgetEndedInterruptions()
    }
}
