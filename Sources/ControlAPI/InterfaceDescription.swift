/// The text of `org.lifed`, as `org.varlink.service.GetInterfaceDescription` returns it.
///
/// The text is the contract: the Swift types of this module mirror it, and a test compares the two.
public enum LifedInterface {
    /// The interface's name.
    public static let name = "org.lifed"

    /// The interface in Varlink's interface definition language.
    public static let description = """
        # The application life cycle: one app in front, the rest put to sleep where they stand.
        # Times are microseconds; instants are counted from the epoch, durations say so.
        # A reply promises the effect: Focus answers when the app is active, Suspend when every process is stopped.
        interface org.lifed

        # What an app is doing. terminating lies between a running state and notRunning.
        type State (notRunning, inactive, active, background, suspended, terminating)

        # How the processes of an app are held together.
        type Containment (processGroup, cgroup)

        # How short memory is.
        type MemoryLevel (normal, warning, critical)

        # Why an app was ended for its memory, and not another: how short memory was, the first of the candidates apps
        # that could have been ended, in order, and the bytes that came back.
        type Reclaim (
          cause: string,
          order: []string,
          candidates: int,
          freed: ?int
        )

        # How an app ended the last time: from which state, why, and what the kernel said.
        type Exit (
          state: State,
          reason: string,
          exitCode: ?int,
          signal: ?int,
          time: int,
          reclaim: ?Reclaim
        )

        # What a scene is doing. One that is unattached is not connected to its app, and may be restored.
        type SceneState (unattached, foregroundInactive, foregroundActive, background, suspended)

        # A scene of an app: a window, as a rule, with a life cycle of its own. id tells it from the app's other scenes;
        # info is what the app gets back with it when it is restored.
        type Scene (
          id: string,
          role: string,
          state: SceneState,
          target: SceneState,
          reason: string,
          since: int,
          info: ?string
        )

        # An app that is described in a manifest, or that was started ad hoc.
        # target is where the app is on its way to; reason is why it is where it is; since is when it got there.
        # scenes is null where the app has not opted in to scenes. stoppedByOther is true while another program keeps the main
        # process stopped of an app that lifed wants to run.
        type App (
          id: string,
          name: ?string,
          state: State,
          target: State,
          reason: string,
          inFront: bool,
          linked: bool,
          adHoc: bool,
          pid: ?int,
          containment: ?Containment,
          since: int,
          lastExit: ?Exit,
          scenes: ?[]Scene,
          stoppedByOther: bool
        )

        # One process of an app's tree, as the kernel shows it. state is the letter of /proc/PID/stat.
        type Process (
          pid: int,
          parent: int,
          command: string,
          state: string,
          cpuTime: int
        )

        # A process of a program in the setting helpers, which serves other apps too: it has left the app that started it,
        # and is neither suspended nor ended with that app.
        type Helper (
          process: Process,
          app: ?string
        )

        # What can keep an app awake in the background.
        type HoldKind (task, activity)

        # What keeps an app awake in the background: a task has until when to end, an activity lasts as long as it lasts.
        type Hold (
          kind: HoldKind,
          number: int,
          name: string,
          since: int,
          until: ?int
        )

        # Work that an app is woken for; at is as in systemd.time(7), next is when it is due.
        type Schedule (
          kind: string,
          at: string,
          next: ?int
        )

        # A process of an app that the daemon neither stops nor ends, and why.
        type UnheldProcess (
          pid: int,
          command: string,
          user: ?string,
          reason: string
        )

        # An app in detail. adopted is whether it ran before it was put under management. awaiting is the callback that it
        # has not answered yet; backgroundUntil is when its time in the background ends; holds is what keeps it there.
        # restartAt is when it is started again after it ended by itself, failures how often in a row it has done so soon
        # after its start; with givenUp it is not started again. unheld is null where the daemon holds every process.
        # frozen is why its control group is frozen. launchFailure is why its latest launch failed, launchRemedy what the
        # user can do. ended is true for an app that has ended and had no manifest: lastExit says how it ended.
        type Details (
          app: App,
          command: []string,
          user: ?string,
          manifest: ?string,
          adopted: bool,
          processes: []Process,
          awaiting: ?string,
          backgroundUntil: ?int,
          holds: []Hold,
          restartAt: ?int,
          failures: int,
          givenUp: bool,
          schedules: []Schedule,
          unheld: ?[]UnheldProcess,
          frozen: ?string,
          launchFailure: ?string,
          launchRemedy: ?string,
          ended: bool
        )

        # What can happen to the machine, and to the session in which the apps are seen.
        type MachineEvent (lock, unlock, sleep, wake, switchAway, switchBack, timeChange)

        # What became of something that an app was handed: it took it, did not want it, was silent, does not listen, or
        # ended first; of a task, whether it has brought something new.
        type ErrandOutcome (handled, declined, unanswered, notListening, lost, newData, noData, failed)

        # One change of an app's state. callback is how long the app took to answer, where it was asked.
        type Transition (
          id: string,
          from: State,
          to: State,
          reason: string,
          time: int,
          pid: ?int,
          callback: ?int
        )

        # One change of a scene's state. callback is how long the app took to answer, where it was asked.
        type SceneTransition (
          app: string,
          scene: string,
          from: SceneState,
          to: SceneState,
          reason: string,
          time: int,
          callback: ?int
        )

        # What can keep an app where it is: the kernel was asked to start, stop, resume or end it; a callback that it has not
        # answered; the place of others in front; its time out of sight; what holds it there; launch callbacks, a channel or
        # scenes that are waited for; an interruption; that nothing is in sight; suspend = "never" in its manifest; that
        # somebody has resumed it; that it is started again later, or never; that somebody else has stopped it; that it is
        # on the screen, or plays.
        type ObstacleKind (
          start, stop, resume, end, answer, place, backgroundTime, task, activity, work, launch, channel, scenes,
          interruption, concealment, manifest, request, restart, givenUp, stoppedByOther, visible, playing
        )

        # How an app can be in use without being in front: something of it is on the screen, or it plays sound.
        type Use (visible, playing)

        # Something that keeps an app where it is. names are those of the callback, the task, the other apps; until is when
        # it is over at the latest.
        type Obstacle (
          kind: ObstacleKind,
          names: []string,
          since: ?int,
          until: ?int
        )

        # What can come next. terminate is SIGTERM, kill is SIGKILL.
        type ProspectKind (transition, callback, callbackOverdue, tasksExpire, terminate, kill)

        # Something that happens to an app at the latest, if it stays silent and nobody does anything. reason is why, or
        # which callback.
        type Prospect (
          kind: ProspectKind,
          time: int,
          from: ?State,
          to: ?State,
          reason: ?string
        )

        # Why an app is where it is: next is the next state on its way, obstacles keep it from that, or where it is;
        # prospects are what comes, in this order.
        type Explanation (
          details: Details,
          next: ?State,
          obstacles: []Obstacle,
          prospects: []Prospect
        )

        # Where it is said how an app is launched.
        type LaunchableSource (manifest, desktopEntry)

        # An app that can be launched. shown is false for one that menus leave out; problem says why one cannot be launched
        # after all, as file, line and message.
        type Launchable (
          id: string,
          name: ?string,
          source: LaunchableSource,
          file: string,
          running: bool,
          shown: bool,
          problem: ?string
        )

        # What can have happened: killed is that it outlived its grace after SIGTERM, exited that its main process ended.
        type HistoryKind (transition, callbackOverdue, killed, exited, launchFailed)

        # Something that happened to an app. reason is why, which callback, or the error of a launch that failed; callback is how long the app took to answer.
        # stateTime is how long it had been in the state that it left. Both are in microseconds.
        type HistoryEvent (
          kind: HistoryKind,
          id: string,
          time: int,
          from: ?State,
          to: ?State,
          reason: string,
          pid: ?int,
          callback: ?int,
          exitCode: ?int,
          signal: ?int,
          stateTime: ?int
        )

        # A mistake in a file that people write, or something that the file names and that is missing.
        type Problem (
          file: string,
          line: ?int,
          message: string
        )

        # The daemon itself. interruptions are the names of those under way; concealments say why nothing is in sight, if so.
        type Status (
          version: string,
          pid: int,
          instance: string,
          socket: string,
          started: int,
          front: []string,
          interruptions: []string,
          concealments: []string,
          homeApp: ?string,
          apps: int,
          running: int,
          clients: int,
          journal: bool,
          problems: []Problem
        )

        # What a call that brings an app to the front waits for: that the app is active, or that it has answered
        # did-become-active as well, if it is connected. An app that was just launched has its launch timeout to connect.
        type WaitGoal (active, answered)

        # Starts an app, or brings it to the front if it runs. With background, it is started without coming to the front.
        # For a person's own daemon the id may be that of a desktop entry, with .desktop behind it or not.
        method Launch(id: string, background: ?bool, wait: ?WaitGoal) -> (app: App)

        # Starts a command that no manifest describes, as the caller's user.
        # Without an id one is made from the command's name.
        method Run(
          command: []string,
          id: ?string,
          environment: ?[string]string,
          workingDirectory: ?string,
          background: ?bool
        ) -> (app: App)

        # Brings a running app to the front; answers when it is active, or has answered.
        method Focus(id: string, wait: ?WaitGoal) -> (app: App)

        # Sends what is in front away, and brings the home app forward where one is configured.
        method Home() -> (app: ?App)

        # A call, an alert: what is in front becomes inactive until every interruption has ended.
        method BeginInterruption(name: ?string) -> ()

        # Ends an interruption; the foreground app becomes active again. With answer, that app becomes the foreground app in the
        # same step, launched if need be, and the interrupted app goes to the background without becoming active.
        method EndInterruption(name: ?string, answer: ?string) -> ()

        # Hands a URL to the app that opens such, or to the one that is named, in front; it is launched if need be. A URL of
        # the scheme file is of the type that its name says, unless one is given. Answers when the app is done with it.
        method Open(url: string, id: ?string, type: ?string) -> (app: App, outcome: ErrandOutcome)

        # Hands an app something that was begun elsewhere, in front. type is the kind of activity, info a JSON text.
        method ContinueActivity(id: string, type: string, info: ?string) -> (app: App, outcome: ErrandOutcome)

        # Does to the apps what the event would do, for tests and for machines without logind. Answers when the apps are
        # where they then have to be.
        method Simulate(event: MachineEvent) -> ()

        # Suspends an app; answers when every process of its tree is stopped. Its background tasks are expired first. With now,
        # it is stopped without waiting for what it does in the background.
        method Suspend(id: string, now: ?bool) -> (app: App)

        # Wakes an app and keeps it running in the background until it is suspended or has been in front.
        method Resume(id: string) -> (app: App)

        # Wakes an app for work out of sight, or launches it for that; one in front is told where it is. It sleeps again when
        # it is done, after 30 seconds at the latest. Answers when it is done; one that does not listen is only woken.
        method Wake(id: string, kind: string, payload: ?string) -> (app: App, outcome: ErrandOutcome)

        # Says which apps are used in this way, all of them each time, 1024 at most. It counts until it is said anew, or the
        # connection ends; an app is used when anybody says so. One that is stays in the background, where settings and
        # manifest allow that: ignored are those of which that cannot be said, since nothing is known by the id or it is
        # not allowed.
        method SetInUse(use: Use, apps: []string) -> (ignored: []string)

        # Asks an app to end, and makes it end when its grace is over; answers when its tree is gone.
        method Terminate(id: string) -> (app: App)

        # Ends an app at once, without asking.
        method Kill(id: string) -> (app: App)

        # Every app that is known, and for clients that may do everything the helpers.
        method List() -> (apps: []App, helpers: []Helper)

        # What can be launched, in the order of the ids: what manifests describe and, by a person's own daemon, desktop
        # entries, which are looked for at this moment. With all, those too that menus do not show, or that cannot be
        # launched.
        method Apps(all: ?bool) -> (apps: []Launchable)

        # One app in detail, with its processes.
        method Describe(id: string) -> (details: Details)

        # The app that a process belongs to, any process of it; null where it is no app's, or has ended. An app is told of
        # itself alone.
        method FindApp(pid: int) -> (app: ?App)

        # Puts a process that runs already under management, with all its descendants, until it ends: the caller's own, or as
        # root anybody's. It comes to the front, unless background says otherwise. Without an id it gets that of the first
        # rule in the configuration that fits, or else one made from the program's name. With byRule it is left alone where
        # no rule fits, and the answer is null; one that is an app's already is then that app, and stays where it is.
        method Adopt(
          pid: int,
          id: ?string,
          name: ?string,
          background: ?bool,
          byRule: ?bool
        ) -> (app: ?App)

        # Lets go of an app that was adopted: its processes run on, where they came from.
        method Disown(id: string) -> (app: App)

        # Why an app is where it is, what holds it there, and what comes next and when, from the machine's own state.
        method Explain(id: string) -> (explanation: Explanation)

        # What happened to the apps, or to one, the oldest first: the last 1024 events of all apps together since the daemon
        # started, or the last limit of them. Nothing is missing since the time that it says. The journal has more.
        method History(id: ?string, limit: ?int) -> (since: int, events: []HistoryEvent)

        # Call with more: the first reply holds every app, each later one a change, of an app or of a scene. Numbers have
        # no gaps.
        method Monitor() -> (number: int, apps: ?[]App, transition: ?Transition, scene: ?SceneTransition)

        # Opens a scene of an app, in front or with background out of sight; the app is launched if need be. Without a name
        # it is a new one that the daemon names. One that is there already is shown again, and keeps its role. role is window
        # unless one is given; info is any text of at most 4096 bytes. Answers when the scene is where it is to be.
        method OpenScene(
          app: string,
          scene: ?string,
          role: ?string,
          info: ?string,
          background: ?bool
        ) -> (scene: Scene)

        # Brings a scene to the front; answers when it is active.
        method FocusScene(app: string, scene: string) -> (scene: Scene)

        # Sends a scene out of sight; answers when it is in the background.
        method BackgroundScene(app: string, scene: string) -> (scene: Scene)

        # Closes a scene and forgets it; answers when it is disconnected, with what it was.
        method CloseScene(app: string, scene: string) -> (scene: Scene)

        # Does what is done when memory is as short as this. critical ends one app, or with all every one that may be
        # ended, and answers when its tree is gone.
        method SimulateMemoryPressure(level: MemoryLevel, all: ?bool) -> (reclaimed: []string)

        # Reads the configuration and the manifests again; running apps stay as they are.
        method Reload() -> (problems: []Problem)

        # Executes the daemon's program again in the same process, as after an upgrade: the apps and their processes stay as
        # they are, and remain the daemon's children. The reply comes from the new program; the connection then ends, as all
        # others do. Only administrators may call it.
        method Reexecute() -> ()

        # The daemon itself.
        method GetStatus() -> (status: Status)

        # The errors say which app, why, and what would work.

        # No manifest has this id and no ad-hoc app runs under it.
        error NoSuchApp (id: string, reason: string, remedy: string)

        # The app has no such scene, or no scenes at all.
        error NoSuchScene (id: string, reason: string, remedy: string)

        # The id of a new ad-hoc app is taken, or is not a valid id.
        error InvalidApp (id: string, reason: string, remedy: string)

        # Several apps open what is to be opened, and none is the default.
        error Ambiguous (id: string, reason: string, remedy: string)

        # The app is not running, and the call needs it to be.
        error NotRunning (id: string, reason: string, remedy: string)

        # The call is against a rule: the manifest, a limit, the session.
        error Refused (id: string, reason: string, remedy: string)

        # The client's user may not do this: the app is another user's, or the seat shows another user's session.
        error NotPermitted (id: string, reason: string, remedy: string)

        # A later request sent the app elsewhere before this one was done.
        error Superseded (id: string, reason: string, remedy: string)

        # An interruption began before the app was active. It becomes active when every interruption has ended.
        error Interrupted (id: string, reason: string, remedy: string)

        # The app did not answer in time.
        error Unanswered (id: string, reason: string, remedy: string)

        # The app ended before this was done.
        error Ended (id: string, reason: string, remedy: string)

        # The daemon is stopping.
        error Stopping (id: string, reason: string, remedy: string)

        # The app could not be started.
        error LaunchFailed (id: string, reason: string, remedy: string)

        # The system did not do its part: a process would not stop, or is not gone.
        error Failed (id: string, reason: string, remedy: string)

        # The caller read too slowly and missed changes. Subscribe again for the present state.
        error SubscriptionOverrun (reason: string, remedy: string)
        """
}
