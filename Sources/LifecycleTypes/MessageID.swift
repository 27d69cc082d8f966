/// The kind of a journal entry: the value of `MESSAGE_ID`.
///
/// `systemd/lifed.catalog` has a text for each, which `journalctl -x` shows. Administrators filter by the values, which never
/// change their meaning.
public enum MessageID: String, CaseIterable, Sendable {
    case transition = "367840df9a3849ab8fecdee164406af3"
    case sceneTransition = "65e318c4c62c4a0891c85d061c163c51"
    /// The app was asked to disconnect scenes to free memory.
    case scenesReclaimed = "56103f2a3aea4a199da41b50c305eaa7"
    /// A request of an app about a scene was refused.
    case sceneRefused = "4a4c02adce5e42f19383cf0e94ae5744"
    case launchFailed = "60e4fe84c8df499a9b8e99b14dba75a0"
    case exited = "e9dff7f895144524913b544eeffca9b3"
    /// The app did not end within its termination timeout, and was killed.
    case killedAfterTimeout = "54b582dd17c44720828cc8de5f351c19"
    /// Another program continued a suspended app, and the daemon stops it again.
    case suspensionRenewed = "e119ea870cd04e61a2f99597e1e830de"
    case suspensionIncomplete = "7ec13ebbf3d14a168ea9f4ce36e6c6e8"
    case callbackOverdue = "190c26465b1a4b4487cf28fd3f7596e2"
    case callbackAnswered = "5885e2c69a5e4adb877873a978362e3a"
    case tasksOverdue = "a618a46a7a7b4a68834115a784716974"
    case reclaimed = "db2f4fe018fb48bb9b610cf43f0c189d"
    case memoryGivenBack = "48a83f840436495b9bba9b85b1a227b4"
    /// The outcome of an event or a task that was given to an app.
    case eventEnded = "7f851f7818184505b914705d5978aa7e"
    /// An event of the machine or the session that concerns the apps.
    case machineEvent = "4b3646353709411f9aebd186534a685f"
    case channelMistake = "2411533a67854187adca210410c67514"
    /// A cause had more entries than its share.
    case entriesSuppressed = "f4b0f6849f7e4fb8b322364570fde468"
    case configurationProblem = "11cb673a602d41adb6a3c83a8eefb9fb"
    case configurationReloaded = "19770ded0d1c415db1ac3e058c66ed05"
    case requestRefused = "efd9336c757f4129b6b1f1959b33e240"
    case clientDropped = "e0e6df9202ec408aa1368654b65d1ef4"
    case daemonStarted = "0c001027ecee42cea140a1f2718364a9"
    case daemonStopping = "666359b54a1c4bbb85ccb78bce6b71e3"
    /// The daemon could not be restarted, and its apps were resumed. Written by `systemd/rescue`.
    case rescued = "a050ab51d0c44f50a3cd38bab7d83f9e"
    /// An app keeps ending, and is launched again after a delay.
    case restartDelayed = "9fc5774914f04d8280b33338a5617a27"
    case restartLimitReached = "cfe5cfa61dfb4b8585eecd08843c4353"
    case interruptionBegan = "ebcecd3ae46d4489ba28b9f817af4fdc"
    case interruptionEnded = "437da70bab0c470fb3931ca97d52124d"
    /// The daemon has restored the apps of the previous one.
    case restored = "72aad5f347dcb4b913dc4874c6d384b2"
    /// The daemon cannot use the state of the previous one, and ends its apps.
    case appsNotRestored = "bd92b87d233f45dbbcd46deafe5dc771"
    case stateNotKept = "23afcd7a3619320b934e1e9c495f8997"
    case noRoomForState = "a98f0b59575b4fba9753a91450ceff2f"
}
