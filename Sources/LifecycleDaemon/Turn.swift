import LifecycleCore
import Systemd

/// What follows each event of the loop: the core handles what has happened, clients get their replies, and then the journal, the
/// history and the subscribers are told. Calls of clients are handled here, one after the other, each in a turn of its own.
///
/// Nothing re-enters: parts append what has happened to the inbox of the core, or keep it until they are asked here.
final class Turn {
    private let parts: DaemonParts
    private let control: ControlService
    private let machine: MachineEvents
    private let log: Log
    private let performer: Performer
    var announcer: Announcer
    /// The replies that are not sent.
    private var replies: [Ready.Answer] = []

    init(_ parts: DaemonParts, _ control: ControlService, _ machine: MachineEvents, log: Log) {
        (self.parts, self.control, self.machine, self.log) = (parts, control, machine, log)
        performer = Performer(
            driver: parts.driver, catalog: parts.catalog, processes: parts.processes, channels: parts.channels,
            launcher: parts.launcher, exits: parts.exits, resources: parts.resources, memory: parts.memory,
            trimmer: parts.trimmer, suspensions: parts.suspensions)
        announcer = Announcer(
            driver: parts.driver, catalog: parts.catalog, processes: parts.processes, resources: parts.resources,
            memory: parts.memory, trimmer: parts.trimmer, suspensions: parts.suspensions, desktop: parts.desktop,
            interruptions: parts.interruptions, history: parts.history, log: parts.log)
    }

    func run() {
        finish()
        while let call = control.server.takeCall() {
            control.notice(call)
            finish()
            // The end of an app, or a full buffer of a subscriber, closes connections.
            if call.connection.isOpen { control.handle(call) }
            finish()
            parts.suspensions.noteOccasion()
        }
        log.writeUrgent()
        if log.isWritten { announcer.entriesWritten() }
        parts.driver.store.commit()
    }

    /// Handles inputs until none is left, and only then sends replies: a reply promises the effect.
    private func finish() {
        repeat {
            control.forgetClosedConnections()
            if parts.uses.takeVisibleChange() { parts.desktop?.visibleAppsChanged() }
            parts.channels.admitArrivals()
            handleInputs()
            parts.processes.dropCandidates()
            parts.desktop?.inputsHandled()
            machine.saveSession()
            for answer in replies {
                machine.noteReply(to: answer.request)
                control.send(answer)
            }
            replies = []
            control.sendAnswers()
            control.publish(announcer.announce())
        } while !parts.driver.inbox.isEmpty || control.server.hasClosedConnections
            || !parts.channels.arrivals.isEmpty
        parts.interruptions.forgetEnded()
    }

    /// Handles the inputs in the inbox, and performs what each leads to. Replies and announcements follow at the end of the turn.
    ///
    /// - Parameters:
    ///   - overdue: Inputs that happened before the deadlines that are due.
    ///   - isRestoring: Whether the previous daemon may have performed what they lead to.
    func handleInputs(overdue: [Input] = [], isRestoring: Bool = false) {
        parts.driver.handleInputs(overdue: overdue) { ready in
            announcer.keep(ready.announcements)
            replies += ready.replies
            performer.perform(ready, isRestoring: isRestoring)
            guard ready.isFinished else { return }
            parts.exits.ended.write()
            parts.driver.events.loop.exit(code: 0)
        }
        parts.channels.confirm()
        parts.processes.confirmNews()
    }

    /// Begins with the first inputs. A daemon that was killed may have left the output of apps that are forgotten.
    func begin() {
        performer.removeOutput(of: parts.launcher.appsWithOutput)
        parts.driver.append(.start)
        run()
    }
}
