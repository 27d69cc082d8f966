/// Everything the files say, and what was wrong with them.
public struct LoadedConfiguration: Hashable, Sendable {
    /// The settings, with the default for each that no file sets, or sets wrongly.
    public var settings: Settings

    /// The apps that can be launched, sorted by id; no two have the same.
    public var manifests: [Manifest]

    /// What was left out, in the order of discovery; bounded.
    public var problems: [Problem]

    /// A configuration made elsewhere than from files.
    public init(settings: Settings = Settings(), manifests: [Manifest] = [], problems: [Problem] = []) {
        self.settings = settings
        self.manifests = manifests
        self.problems = problems
    }
}
