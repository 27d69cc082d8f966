@testable import Configuration

extension TemporaryDirectory {
    /// Loads from this directory alone, or from those of its directories that are named.
    func load(_ names: [String] = [], instance: Instance = .system, searchPath: String = "/usr/bin:/bin")
        -> LoadedConfiguration
    {
        let directories = names.isEmpty ? [path] : names.map { "\(path)/\($0)" }
        return ConfigurationLoader(directories: directories, instance: instance, searchPath: searchPath).load()
    }

    /// The problems of a load, each with its file's path from here on.
    func problems(_ configuration: LoadedConfiguration) -> [String] {
        configuration.problems.map(\.description).map { text in
            text.hasPrefix("\(path)/") ? String(text.dropFirst(path.count + 1)) : text
        }
    }
}
