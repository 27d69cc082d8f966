import Configuration
import Processes
import Systemd

extension ConfigurationLoader {
    init(_ places: Places, instance: Instance, environment: [String: String]) {
        let searchPath = environment["PATH"] ?? SpawnRequest.defaultSearchPath
        self.init(
            directories: places.configuration, instance: instance, searchPath: searchPath,
            requiresDirectories: places.isConfigurationNamed,
            entries: DesktopEntries(for: instance, environment: environment, searchPath: searchPath))
    }
}

extension LogEntry {
    init(_ problem: Problem) {
        self.init(
            id: .configurationProblem, priority: .warning, message: problem.description,
            fields: [("LIFED_FILE", problem.file), ("LIFED_REASON", problem.message)]
                + (problem.line.map { [("LIFED_LINE", String($0))] } ?? []))
    }
}

/// Reads the configuration as a daemon with these options would.
///
/// - Returns: The problems that were found, one line each.
/// - Throws: An error whose description is one sentence, where the places of the configuration cannot be found.
public func checkConfiguration(options: Options) throws -> [String] {
    let environment = currentEnvironment()
    let places = try Places(options: options, environment: environment)
    let loader = ConfigurationLoader(places, instance: options.instance, environment: environment)
    return loader.load().problems.map(\.description)
}
