/// The apps that open types, by the choice of the user, of the machine's administrator, and of the distribution:
/// Association between MIME Types and Applications 1.0.1. The files are read on request only.
public struct Associations: Hashable, Sendable {
    /// The apps for one type. Ids are those of apps, without `.desktop`.
    public struct Choice: Hashable, Sendable {
        /// The apps that open it by default, the most preferred first.
        public fileprivate(set) var defaults: [String] = []

        /// The apps that open it though their entries need not say so, the most preferred first.
        public fileprivate(set) var added: [String] = []

        /// The apps that do not open it though their entries may say so.
        public fileprivate(set) var removed: Set<String> = []

        /// Creates associations without apps.
        public init() {}
    }

    /// A place for a file.
    struct File: Hashable {
        let path: String

        /// That of one desktop says what the default is there, and nothing else.
        let isOfOneDesktop: Bool

        /// The number of directories with entries that outrank the file's own: of their entries it adds and removes
        /// nothing.
        let rank: Int
    }

    /// More than any desktop has of each.
    private static let limits = (desktops: 8, directories: 32, apps: 256)

    /// The files of associations, the most preferred first.
    let files: [File]

    /// The directories that hold `applications`, the highest first.
    private let data: [String]

    /// Associations that read no file.
    public static let none = Associations(files: [], data: [])

    private init(files: [File], data: [String]) {
        self.files = files
        self.data = data
    }

    /// Prepares to look in the directories of a user with these variables: section 2.
    ///
    /// - Parameter data: The directories that hold `applications`, the highest first.
    init(environment: [String: String], data: [String]) {
        let desktops = Self.parts(of: environment["XDG_CURRENT_DESKTOP"] ?? "").filter(Self.isFileName)
            .prefix(Self.limits.desktops).map { $0.lowercased() }
        let own = baseDirectory("XDG_CONFIG_HOME", inHome: ".config", of: environment)
        let shared = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        let configuration = [own].compactMap(\.self) + Self.parts(of: shared).filter(Self.isPath)
        let directories =
            configuration.prefix(Self.limits.directories).map { (path: $0, rank: 0) }
            + data.enumerated().map { (path: "\($1)/applications", rank: $0) }
        let files = directories.flatMap { path, rank in
            desktops.map { File(path: "\(path)/\($0)-mimeapps.list", isOfOneDesktop: true, rank: rank) }
                + [File(path: "\(path)/mimeapps.list", isOfOneDesktop: false, rank: rank)]
        }
        self.init(files: files, data: data)
    }

    /// Returns the present choices for types. A file that is no text has none.
    ///
    /// - Parameter types: In lower case; a scheme's is `x-scheme-handler/SCHEME`.
    /// - Throws: ``LoadFailure`` if a file or a directory cannot be read for now.
    public func choices(for types: Set<String>) throws(LoadFailure) -> [String: Choice] {
        var choices: [String: Choice] = [:]
        // Few files name these types where the owner of the entry matters.
        var known: [String: Int]?
        for file in files {
            guard let text = try Self.text(of: file.path) else { continue }
            for (type, said) in AssociationFile(text, types: types).said {
                var said = said
                if file.isOfOneDesktop { said.keepDefaults() }
                if file.rank > 0, said.changesAssociations {
                    let ranks = if let known { known } else { try DesktopEntryCatalog(directories: data).ranks }
                    known = ranks
                    said.leaveAlone { id in ranks[id].map { $0 < file.rank } ?? false }
                }
                choices[type, default: Choice()].apply(said, limit: Self.limits.apps)
            }
        }
        return choices
    }

    private static func text(of path: String) throws(LoadFailure) -> String? {
        do throws(Defect) {
            if case .text(let text)? = try TextFile.read(path) { return text }
        } catch {
            if let failure = LoadFailure(error, at: path) { throw failure }
        }
        return nil
    }

    /// Splits by bytes: the separator and an accent after it are one character.
    private static func parts(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: ":")).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func isPath(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "/") }

    private static func isFileName(_ text: String) -> Bool { !text.utf8.contains(UInt8(ascii: "/")) }
}

extension Associations.Choice {
    /// Takes what a file says that is outranked by those before: what they have removed it cannot bring back, and what they
    /// have added it cannot remove.
    fileprivate mutating func apply(_ said: AssociationFile.Said, limit: Int) {
        for id in said.added where !removed.contains(id) && !added.contains(id) && added.count < limit {
            added.append(id)
        }
        for id in said.removed where !added.contains(id) && removed.count < limit { removed.insert(id) }
        for id in said.defaults where !removed.contains(id) && !defaults.contains(id) && defaults.count < limit {
            defaults.append(id)
        }
    }
}

/// A `mimeapps.list`. Lines that mean nothing are passed over, as other readers do: these files are written by
/// programs, and one line too many must not undo a user's choice.
struct AssociationFile {
    /// The statements of a file about one type.
    struct Said: Equatable {
        var defaults: [String] = []
        var added: [String] = []
        var removed: [String] = []

        var changesAssociations: Bool { !added.isEmpty || !removed.isEmpty }

        /// Forgets all that a file of one desktop cannot say.
        mutating func keepDefaults() {
            added = []
            removed = []
        }

        /// Removes the additions and removals of apps whose entries the file cannot change: section 3. The file may set
        /// the default of all.
        mutating func leaveAlone(_ isOutOfReach: (String) -> Bool) {
            added.removeAll(where: isOutOfReach)
            removed.removeAll(where: isOutOfReach)
        }
    }

    private(set) var said: [String: Said] = [:]

    private enum Group: String {
        case defaults = "[Default Applications]"
        case added = "[Added Associations]"
        case removed = "[Removed Associations]"
    }

    /// Reads a text, which is not trusted in any way, by bytes.
    init(_ text: String, types: Set<String>) {
        var group: Group?
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            let words = line.trimmed
            if words.first == UInt8(ascii: "[") {
                group = Group(rawValue: String(decoding: words, as: UTF8.self))
                continue
            }
            guard let group, let separator = words.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let type = String(decoding: words[..<separator].trimmed, as: UTF8.self).lowercased()
            guard types.contains(type) else { continue }
            let ids = Self.ids(words[words.index(after: separator)...])
            switch group {
            case .defaults: said[type, default: Said()].defaults += ids
            case .added: said[type, default: Said()].added += ids
            case .removed: said[type, default: Said()].removed += ids
            }
        }
    }

    private static func ids(_ list: Substring.UTF8View) -> [String] {
        list.split(separator: UInt8(ascii: ";")).prefix(256)
            .compactMap { String(decoding: $0.trimmed, as: UTF8.self).withoutDesktopSuffix }
            .filter(AppIdentifier.isValid)
    }
}

/// The rule for the names of media types: RFC 6838, section 4.2.
public enum MediaType {
    /// Returns whether a text is a media type, or all of a family, such as `image/*`.
    public static func isValid(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, isName(parts[0]) else { return false }
        return parts[1] == "*" || isName(parts[1])
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first.isLetterOrDigit, text.utf8.count <= 127 else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$&-^_.+".utf8.contains($0) }
    }
}
