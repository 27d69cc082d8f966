import LifecycleCore

/// What follows each event of the loop: the core handles what has happened, clients get their replies, and then the journal, the
/// history and the subscribers are told. Calls of clients are handled here, one after the other, each in a turn of its own.
///
/// Nothing re-enters: parts append what has happened to the inbox of the core, or keep it until they are asked here.
struct Turn {
    let manager: AppManager
    let control: ControlService
    let machine: MachineEvents
    let log: Log

    func run() {
        finish()
        while let call = control.server.takeCall() {
            control.notice(call)
            finish()
            // The end of an app, or a full buffer of a subscriber, closes connections.
            if call.connection.isOpen { control.handle(call) }
            finish()
            manager.suspensions.noteOccasion()
        }
        log.writeUrgent()
        if log.isWritten { manager.announcer.entriesWritten() }
        manager.store.commit()
    }

    /// Handles inputs until none is left, and only then sends replies: a reply promises the effect.
    private func finish() {
        repeat {
            control.forgetClosedConnections()
            if manager.uses.takeVisibleChange() { manager.desktop?.visibleAppsChanged() }
            manager.channels.admitArrivals()
            manager.handleInputs()
            manager.processes.dropCandidates()
            manager.desktop?.inputsHandled()
            machine.saveSession()
            for answer in manager.takeReplies() {
                machine.noteReply(to: answer.request)
                control.send(answer)
            }
            control.sendAnswers()
            control.publish(manager.announcer.announce())
        } while !manager.driver.inbox.isEmpty || control.server.hasClosedConnections
            || !manager.channels.arrivals.isEmpty
        manager.interruptions.forgetEnded()
    }
}
