extension Manifest {
    /// Every key of a manifest. `id` and `command` have no default in the file; ``ManifestReader`` sees to both.
    static let schema = Schema<Manifest>(keys: [
        Key("id", .identifier, \.id),
        Key("name", .title, \.name),
        Key("command", .command, \.command),
        Key("user", .userName, \.user),
        Key("workingDirectory", .absolutePath, \.workingDirectory),
        Key("environment", .environment, \.environment),
        Key("suspend", .choice, \.suspend),
        Key("suspendMethod", .choice, \.suspendMethod),
        Key("exitPolicy", .choice, \.exitPolicy),
        Key("callbacks", .choice, \.callbacks),
        Key("control", .choice, \.control),
        Key("backgroundModes", .words, \.backgroundModes),
        Key("backgroundTime", .duration, \.backgroundTime),
        Key("terminateTimeout", .duration, \.terminateTimeout),
        Key("launchTimeout", .duration, \.launchTimeout),
        Key("scenes", .boolean, \.scenes),
        Key("sceneLimit", .integer(in: 1...16), \.sceneLimit),
        Key("restart", .choice, \.restart),
        Key("onExit", .choice, \.onExit),
        Key("launchAtStart", .choice, \.launchAtStart),
        Key("reclaimWhenSuspended", .boolean, \.reclaimWhenSuspended),
        Key("schemes", .schemes, \.schemes),
        Key("mimeTypes", .mimeTypes, \.mimeTypes),
        Key("schedule", .schedules, \.schedules),
    ])
}
