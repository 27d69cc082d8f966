/// The desktop entries of a machine, or of a user. They are searched on request only.
public struct DesktopEntries: Sendable {
    /// An entry, or the reason why it cannot be launched.
    public enum Finding: Hashable, Sendable {
        case entry(DesktopEntry)

        /// The entry cannot be launched.
        case unusable(Problem)
    }

    /// Where to look, in `applications` of each, the directory that outranks all others first.
    public let directories: [String]

    /// The entries that open a type, if a user or their machine has chosen.
    public let associations: Associations

    /// The terminal for entries that need one, with what comes before their command; empty for none.
    public var terminal: [String] {
        get { reader.terminal }
        set { reader.terminal = newValue }
    }

    private var reader: DesktopEntryReader

    /// Prepares to look for entries.
    ///
    /// - Parameters:
    ///   - searchPath: The directories of programs without a path, in the form of the PATH variable; nil if programs are
    ///     not looked up.
    public init(
        directories: [String], associations: Associations = .none, locale: LocaleName = LocaleName(""),
        searchPath: String?
    ) {
        self.directories = directories
        self.associations = associations
        reader = DesktopEntryReader(locale: locale, search: searchPath.map { ProgramSearch(path: $0) })
    }

    /// Creates the entries that a daemon reads: those of the XDG Base Directory Specification 0.8.
    ///
    /// - Parameters:
    ///   - instance: The daemon. That of the system ignores a user's own directory.
    ///   - environment: The daemon's environment, for the directories, the associations and the locale.
    ///   - searchPath: The directories of programs without a path, in the form of the PATH variable; nil if programs are
    ///     not looked up.
    public init(for instance: Instance, environment: [String: String], searchPath: String?) {
        var directories: [String] = []
        if instance == .user, let own = baseDirectory("XDG_DATA_HOME", inHome: ".local/share", of: environment) {
            directories.append(own)
        }
        let shared = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        // By bytes: the separator and an accent after it are one character.
        for part in shared.utf8.split(separator: UInt8(ascii: ":")) where part.first == UInt8(ascii: "/") {
            var path = part
            while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
            let directory = String(decoding: path, as: UTF8.self)
            if !directories.contains(directory), directories.count < 32 { directories.append(directory) }
        }
        self.init(
            directories: directories,
            associations: instance == .user ? Associations(environment: environment, data: directories) : .none,
            locale: LocaleName(environment: environment), searchPath: searchPath)
    }

    /// Returns the id in a name that may be that of a file, `org.example.Clock.desktop`.
    public static func id(in name: String) -> String { name.withoutDesktopSuffix ?? name }

    /// Returns the entry of an id; nil if there is none.
    ///
    /// - Throws: ``LoadFailure`` if a directory, or the entry, cannot be read for now.
    public func find(_ id: String) throws(LoadFailure) -> Finding? {
        guard AppIdentifier.isValid(id) else { return nil }
        guard let path = try DesktopEntryCatalog(directories: directories).paths[id] else { return nil }
        return try read(id, at: path)
    }

    /// Returns the facts in the entry of an id, which lifed need not be able to launch; nil if there is no entry, or no valid one.
    ///
    /// - Throws: ``LoadFailure`` if a directory or the entry cannot be read for now.
    public func facts(of id: String) throws(LoadFailure) -> DesktopEntryFacts? {
        guard AppIdentifier.isValid(id), let path = try pathsOfFacts()[id] else { return nil }
        return try reader.facts(at: path)
    }

    /// Returns the facts in the entries of those ids whose app a call to its name on the session bus launches.
    ///
    /// - Throws: The same as ``facts(of:)``.
    public func activatableFacts(among ids: some Sequence<String>) throws(LoadFailure) -> [String: DesktopEntryFacts] {
        let paths = try pathsOfFacts()
        var found: [String: DesktopEntryFacts] = [:]
        for id in ids {
            guard let path = paths[id], let facts = try reader.facts(at: path), facts.isActivatable else { continue }
            found[id] = facts
        }
        return found
    }

    private func pathsOfFacts() throws(LoadFailure) -> [String: String] {
        try DesktopEntryCatalog(directories: directories, failures: DesktopEntryReader.failuresOfFacts).paths
    }

    /// The limit of one read, in bytes, so that the answer does not take long.
    static let sizeLimit = 33_554_432

    /// Returns all entries by id.
    ///
    /// - Throws: ``LoadFailure`` if a directory or an entry cannot be read for now.
    public func all() throws(LoadFailure) -> [String: Finding] { try all(sizeLimit: Self.sizeLimit) }

    func all(sizeLimit: Int) throws(LoadFailure) -> [String: Finding] {
        var findings: [String: Finding] = [:]
        var room = sizeLimit
        let paths = try DesktopEntryCatalog(directories: directories).paths
        for (id, path) in paths.sorted(by: { $0.key < $1.key }) {
            room -= Directory.size(ofFile: path)
            findings[id] =
                room >= 0
                ? try read(id, at: path)
                : .unusable(
                    Problem(
                        file: path,
                        message: "cannot read the entry: those before it have \(sizeLimit) bytes; ignoring it"))
        }
        return findings
    }

    /// The directories that are searched, for a message.
    public var places: String {
        directories.isEmpty ? "no directory" : directories.map { "\($0)/applications" }.joined(separator: ", ")
    }

    private func read(_ id: String, at path: String) throws(LoadFailure) -> Finding {
        let content: TextFile.Content?
        do throws(Defect) {
            content = try TextFile.read(path, limit: DesktopEntryReader.sizeLimit)
        } catch {
            if let failure = LoadFailure(error, at: path) { throw failure }
            return .unusable(Problem(error, of: path))
        }
        do throws(Problem) {
            return .entry(try reader.entry(id, in: content, at: path))
        } catch {
            return .unusable(error)
        }
    }
}

/// Finds the desktop entries of several directories, by their names alone: none is opened.
///
/// An entry's id is its path below `applications`, with `-` for `/`, without `.desktop`: Desktop Entry Specification 1.5,
/// section 2. Of several of one id that of the first directory counts, whatever is in it.
struct DesktopEntryCatalog {
    /// More than any desktop has, and a bound for what a link into the wrong place makes of a walk.
    struct Limits {
        var entries = 4096
        var directories = 256
        var depth = 8
    }

    private let limits: Limits
    /// The errors of a directory that are a failure of the search.
    private let failures: [Int32]

    /// Where the entry of each id is.
    private(set) var paths: [String: String] = [:]

    /// The number of directories that outrank the entry of each id.
    private(set) var ranks: [String: Int] = [:]

    private var visited = 0

    /// - Parameter directories: Those that hold `applications`, the highest first.
    init(
        directories: [String], limits: Limits = Limits(), failures: [Int32] = LoadFailure.shortages
    ) throws(LoadFailure) {
        (self.limits, self.failures) = (limits, failures)
        for (rank, directory) in directories.enumerated() {
            try visit("\(directory)/applications", rank: rank, prefix: "", depth: 0)
        }
    }

    private mutating func visit(
        _ directory: String, rank: Int, prefix: String, depth: Int
    ) throws(LoadFailure) {
        visited += 1
        guard depth < limits.depth, visited <= limits.directories else { return }
        var names: [String] = []
        do throws(Defect) {
            names = try Directory.names(in: directory, endingIn: "") ?? []
        } catch {
            // Another unreadable directory has nothing to launch; a search that finds nothing names the directories.
            if let failure = LoadFailure(error, at: directory, among: failures) { throw failure }
        }
        var inner: [String] = []
        for name in names.sorted() {
            guard let id = Self.id(of: name, prefix: prefix) else {
                inner.append(name)
                continue
            }
            guard AppIdentifier.isValid(id), paths[id] == nil, paths.count < limits.entries else { continue }
            paths[id] = "\(directory)/\(name)"
            ranks[id] = rank
        }
        for name in inner where Directory.exists("\(directory)/\(name)") {
            try visit("\(directory)/\(name)", rank: rank, prefix: "\(prefix)\(name)-", depth: depth + 1)
        }
    }

    private static func id(of name: String, prefix: String) -> String? {
        guard let bare = name.withoutDesktopSuffix else { return nil }
        return prefix + bare
    }
}

extension String {
    /// The name of an entry's file without its ending; nil where it has none.
    var withoutDesktopSuffix: String? {
        let suffix = ".desktop"
        guard utf8.count > suffix.utf8.count, utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else {
            return nil
        }
        return String(decoding: utf8.dropLast(suffix.utf8.count), as: UTF8.self)
    }
}
