import ArgumentParser

/// The id of an app, with the known ones for the shell to complete.
struct AppArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The id of the app.", valueName: "app"),
        completion: .shellCommand("lifectl list --ids 2>/dev/null"))
    var id: String
}

extension CompletionKind {
    /// The ids of apps that are known, and of those that can be launched.
    static var launchableApps: CompletionKind {
        .shellCommand("lifectl list --ids 2>/dev/null; lifectl apps --ids 2>/dev/null")
    }
}
