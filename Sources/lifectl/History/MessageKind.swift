import ControlAPI

/// The kinds of journal entries that timelines and figures are made of: values of `MESSAGE_ID`, which never change their
/// meaning. A test compares them with the daemon's.
enum MessageKind: String, CaseIterable {
    case transition = "367840df9a3849ab8fecdee164406af3"
    case callbackOverdue = "190c26465b1a4b4487cf28fd3f7596e2"
    case killedAfterGrace = "54b582dd17c44720828cc8de5f351c19"
    case launchFailed = "60e4fe84c8df499a9b8e99b14dba75a0"
    case exited = "e9dff7f895144524913b544eeffca9b3"
}
