import ControlAPI

/// What an app may do with a method of the control interface. An app acts on itself and on nobody else, and it cannot
/// give itself what a person or its manifest has not given it.
enum AppAccess {
    /// Allowed; the answer has the app alone in it.
    case filtered
    /// Allowed for the app itself.
    case onItself
    /// Not allowed.
    case refused
}

extension MethodName {
    var accessOfApps: AppAccess {
        switch self {
        case .list, .getStatus, .monitor, .history, .findApp: .filtered
        case .describe, .explain, .suspend, .terminate, .kill: .onItself
        // What is in front is the person's choice, even where it is the app itself.
        case .launch, .open, .continueActivity, .focus, .home, .beginInterruption, .endInterruption: .refused
        // Which of them is in front is the person's choice too; the app has its channel for what it may ask.
        case .openScene, .focusScene, .backgroundScene, .closeScene: .refused
        // What else there is on the machine is nothing to an app.
        case .apps: .refused
        // It would keep the app awake without limit. Background tasks and modes are for that.
        case .resume: .refused
        // The same; and whoever sees or hears apps is none of them.
        case .setInUse: .refused
        // The same, half a minute at a time.
        case .wake: .refused
        // The new app would be out of the limits of this one.
        case .run, .adopt, .disown: .refused
        // Others would be ended for it.
        case .simulateMemoryPressure: .refused
        case .simulate: .refused
        case .reload, .reexecute: .refused
        }
    }
}
