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

    /// Where the entry of each id is.
    private(set) var paths: [String: String] = [:]

    /// How many of the directories outrank the one that has the entry of each id.
    private(set) var ranks: [String: Int] = [:]

    private var visited = 0

    /// - Parameter directories: Those that hold `applications`, the one that outranks all others first.
    init(directories: [String], limits: Limits = Limits()) {
        self.limits = limits
        for (rank, directory) in directories.enumerated() {
            visit("\(directory)/applications", rank: rank, prefix: "", depth: 0)
        }
    }

    private mutating func visit(_ directory: String, rank: Int, prefix: String, depth: Int) {
        visited += 1
        guard depth < limits.depth, visited <= limits.directories else { return }
        // One that cannot be read has nothing to launch; where was looked is said to whoever asks for more.
        guard let names = try? Directory.names(in: directory, endingIn: "") else { return }
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
            visit("\(directory)/\(name)", rank: rank, prefix: "\(prefix)\(name)-", depth: depth + 1)
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
