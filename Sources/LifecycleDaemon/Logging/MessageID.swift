/// What kind a journal entry of lifed is of: the values of `MESSAGE_ID`.
///
/// Each has a text in the message catalogue, `systemd/lifed.catalog`, which `journalctl -x` shows. The values are part of
/// the interface to administrators, who filter by them, and never change their meaning.
nonisolated enum MessageID: String, CaseIterable, Sendable {
    /// An app's state changed.
    case transition = "367840df9a3849ab8fecdee164406af3"

    /// A scene's state changed.
    case sceneTransition = "65e318c4c62c4a0891c85d061c163c51"

    /// Scenes were disconnected for their memory.
    case scenesReclaimed = "56103f2a3aea4a199da41b50c305eaa7"

    /// What an app wanted with a scene was not to be had.
    case sceneRefused = "4a4c02adce5e42f19383cf0e94ae5744"

    /// An app could not be started.
    case launchFailed = "60e4fe84c8df499a9b8e99b14dba75a0"

    /// The main process of an app is gone.
    case exited = "e9dff7f895144524913b544eeffca9b3"

    /// An app did not act on SIGTERM within its grace, and was killed.
    case killedAfterGrace = "54b582dd17c44720828cc8de5f351c19"

    /// Somebody else continued a suspended app, and it was stopped again.
    case suspensionRenewed = "e119ea870cd04e61a2f99597e1e830de"

    /// Some processes of an app did not stop.
    case suspensionIncomplete = "7ec13ebbf3d14a168ea9f4ce36e6c6e8"

    /// An app did not answer a callback by its deadline.
    case callbackOverdue = "190c26465b1a4b4487cf28fd3f7596e2"

    /// An app answered a callback.
    case callbackAnswered = "5885e2c69a5e4adb877873a978362e3a"

    /// An app did not end its background tasks in time.
    case tasksOverdue = "a618a46a7a7b4a68834115a784716974"

    /// An app was ended for its memory.
    case reclaimed = "db2f4fe018fb48bb9b610cf43f0c189d"

    /// Memory of a suspended app was given back.
    case memoryGivenBack = "48a83f840436495b9bba9b85b1a227b4"

    /// What became of something that an app was handed.
    case eventEnded = "7f851f7818184505b914705d5978aa7e"

    /// Something happened to the machine or the session that concerns the apps.
    case machineEvent = "4b3646353709411f9aebd186534a685f"

    /// An app broke the rules of its channel.
    case channelMistake = "2411533a67854187adca210410c67514"

    /// Entries were left out because their cause had more than its share.
    case entriesSuppressed = "f4b0f6849f7e4fb8b322364570fde468"

    /// A file that people write has a mistake.
    case configurationProblem = "11cb673a602d41adb6a3c83a8eefb9fb"

    /// The configuration was read again.
    case configurationReloaded = "19770ded0d1c415db1ac3e058c66ed05"

    /// A client asked for something that it may not have.
    case requestRefused = "efd9336c757f4129b6b1f1959b33e240"

    /// A client was disconnected for how it behaved.
    case clientDropped = "e0e6df9202ec408aa1368654b65d1ef4"

    /// The daemon takes requests.
    case daemonStarted = "0c001027ecee42cea140a1f2718364a9"

    /// The daemon ends the apps and then itself.
    case daemonStopping = "666359b54a1c4bbb85ccb78bce6b71e3"

    /// The daemon cannot come back, and its apps were let run. Written by `systemd/rescue`.
    case rescued = "a050ab51d0c44f50a3cd38bab7d83f9e"

    /// An app keeps ending, and is started again only after a while.
    case restartDelayed = "9fc5774914f04d8280b33338a5617a27"

    /// An app has ended so often that it is not started again.
    case restartGivenUp = "cfe5cfa61dfb4b8585eecd08843c4353"

    /// An interruption of what is in front began.
    case interruptionBegan = "ebcecd3ae46d4489ba28b9f817af4fdc"

    /// An interruption ended.
    case interruptionEnded = "437da70bab0c470fb3931ca97d52124d"

    /// A daemon has taken over from one that died.
    case takenOver = "72aad5f347dcb4b913dc4874c6d384b2"

    /// The state of the apps cannot be written down.
    case stateNotKept = "23afcd7a3619320b934e1e9c495f8997"

    /// The state of more apps has no space.
    case noRoomForState = "a98f0b59575b4fba9753a91450ceff2f"
}
