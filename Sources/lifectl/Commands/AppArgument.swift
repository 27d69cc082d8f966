import ArgumentParser

/// The id of an app, with the known ones for the shell to complete.
struct AppArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The id of the app.", valueName: "app"),
        completion: .knownApps)
    var id: String
}
