import Glibc
import LifecycleTypes

/// Reads `lifed.toml` and the manifests in `apps.d` from a list of directories.
///
/// Unusable parts are left out and reported. A setting or a manifest in a higher directory replaces the one of the same name in a lower
/// directory; an empty manifest, or a link to /dev/null, takes it away (systemd.unit(5), systemd-system.conf(5)).
public struct ConfigurationLoader: Sendable {
    /// Where to look, the directory that outranks all others last.
    public let directories: [String]

    /// Whose daemon is to use the configuration.
    public let instance: Instance

    /// Where commands without a path are looked up, in the form of the PATH variable; nil if programs are not looked up, for
    /// a caller that must not wait for their file systems.
    public let searchPath: String?

    /// A Boolean value that indicates whether an absent directory is a problem, as it is for one that a user named.
    public let requiresDirectories: Bool

    /// The desktop entries that provide the commands of manifests without one.
    public let entries: DesktopEntries?

    /// Creates a loader. It reads nothing before ``load()``.
    ///
    /// - Parameters:
    ///   - directories: The directories, the highest last.
    ///   - instance: The daemon that is to use the configuration.
    ///   - searchPath: The directories of commands without a path, in the form of the PATH variable; nil if programs are
    ///     not looked up.
    ///   - requiresDirectories: A Boolean value that indicates whether an absent directory is a problem.
    ///   - entries: The desktop entries for manifests without a command; nil for none.
    public init(
        directories: [String], instance: Instance, searchPath: String?, requiresDirectories: Bool = false,
        entries: DesktopEntries? = nil
    ) {
        self.directories = directories
        self.instance = instance
        self.searchPath = searchPath
        self.requiresDirectories = requiresDirectories
        self.entries = entries
    }

    /// Returns the directories of an installed daemon.
    ///
    /// - Parameters:
    ///   - instance: The daemon, of the system or of a user.
    ///   - environment: The daemon's environment, in which XDG_CONFIG_HOME and HOME name a user's own directory.
    /// - Returns: The directories, the highest last.
    public static func standardDirectories(for instance: Instance, environment: [String: String]) -> [String] {
        let shared = ["/usr/lib/lifed", "/usr/local/lib/lifed", "/etc/lifed"]
        guard instance == .user, let own = baseDirectory("XDG_CONFIG_HOME", inHome: ".config", of: environment) else {
            return shared
        }
        return shared + ["\(own)/lifed"]
    }

    /// Reads everything, now.
    ///
    /// - Throws: ``LoadFailure`` if a file or a directory cannot be read for now. Without it, the rest is not the configuration.
    public func load() throws(LoadFailure) -> LoadedConfiguration {
        var problems = ProblemList()
        for directory in directories where requiresDirectories && !Directory.exists(directory) {
            problems.add(
                Problem(
                    file: directory, message: "cannot read the configuration: this is not a directory; name another one"
                ))
        }
        var reader = SettingsReader()
        for directory in directories {
            // The shared directories name the home app of the system's daemon; each user's daemon has its own.
            let takesHomeApp = instance == .system || directory == directories.last
            try reader.read("\(directory)/lifed.toml", takesHomeApp: takesHomeApp, reportingTo: &problems)
        }
        let entries = try loadEntries(reader.settings, reportingTo: &problems)
        let manifests = entries.map(\.manifest)
        problems.add(tooManyInForeground(entries, limit: reader.settings.foregroundLimit))
        reader.requireHomeApp(among: manifests.lazy.map(\.id), reportingTo: &problems)
        // A user's daemon has no administrators.
        if instance == .system { reader.checkAdministrators(reportingTo: &problems) }
        return LoadedConfiguration(
            settings: reader.settings,
            manifests: manifests,
            problems: problems.summary(for: directories.last ?? "")
        )
    }

    private func loadEntries(
        _ settings: DaemonSettings, reportingTo problems: inout ProblemList
    ) throws(LoadFailure) -> [ManifestReader.Entry] {
        var desktopEntries = self.entries
        desktopEntries?.terminal = settings.terminal
        let reader = ManifestReader(
            instance: instance, searchPath: searchPath, ownDirectory: directories.last.map { "\($0)/apps.d" },
            entries: desktopEntries)
        var entries: [ManifestReader.Entry] = []
        var positions: [String: Int] = [:]
        let catalog = ManifestCatalog(directories: directories, limit: settings.limits.apps)
        for file in try catalog.files(reportingTo: &problems) {
            switch try reader.read(file.name, in: file.directory) {
            case .nothing: continue
            case .invalid(let found): problems.add(found)
            case .valid(let entry):
                if let first = positions[entry.manifest.id] {
                    problems.add(duplicate(entry, of: entries[first]))
                } else {
                    positions[entry.manifest.id] = entries.count
                    entries.append(entry)
                }
            }
        }
        return entries.sorted { $0.manifest.id < $1.manifest.id }
    }

    /// Returns the apps that are launched in the foreground and cannot all be there. None is left out: the last of them
    /// get the foreground slots.
    private func tooManyInForeground(_ entries: [ManifestReader.Entry], limit: Int) -> [Problem] {
        let foreground = entries.filter { $0.manifest.launchAtStart == .foreground }
        let winners = foreground.suffix(limit).map(\.manifest.id.quoted).joined(separator: ", ")
        return foreground.dropLast(limit).map { entry in
            let message =
                "cannot launch \(entry.manifest.id) in the foreground: foregroundLimit is \(limit), and \(winners) follow by id; "
                + "launching it in the background"
            return Problem(file: entry.manifest.file, line: entry.startLine, message: message)
        }
    }

    private func duplicate(_ entry: ManifestReader.Entry, of first: ManifestReader.Entry) -> Problem {
        let message =
            "cannot use the id \(entry.manifest.id.quoted): \(first.manifest.file) has it already; ignoring this manifest"
        return Problem(file: entry.manifest.file, line: entry.idLine, message: message)
    }
}

/// The failure of the system to read a file or a directory of the configuration, which a later attempt may not have.
public struct LoadFailure: Error, Hashable, Sendable {
    /// The file or the directory.
    public let file: String

    /// The error, as in errno(3).
    public let error: Int32

    /// The errors that tell nothing about a file.
    static let shortages = [EMFILE, ENFILE, ENOMEM]

    /// Creates the failure for an error of the system; nil for one of the file itself, which is a ``APIProblem``.
    ///
    /// - Parameter errors: The errors that are no problem of the file.
    init?(_ failure: Defect, at file: String, among errors: [Int32] = shortages) {
        guard let error = failure.error, errors.contains(error) else { return nil }
        (self.file, self.error) = (file, error)
    }
}

/// The content of all files, and its problems.
public struct LoadedConfiguration: Hashable, Sendable {
    /// The settings, with the default for each that no file sets, or sets wrongly.
    public var settings = DaemonSettings()

    /// The apps that can be launched, sorted by id; no two have the same.
    public var manifests: [Manifest] = []

    /// The problems, in the order of discovery; bounded.
    public var problems: [Problem] = []
}
