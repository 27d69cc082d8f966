import CLinux
import Glibc
import Processes

/// The media types of files by their names: the daemon may not be able to read the files.
///
/// The table is that of the shared MIME database (its specification, section 2.7), a line `weight:type:pattern:flags` for
/// each pattern. It is read at the first query, and again when it has changed.
final class MediaTypes {
    static let shared = MediaTypes(path: "/usr/share/mime/globs2")
    static let unknown = "application/octet-stream"

    private struct Glob {
        let weight: Int
        let type: String
        let pattern: String
        let isCaseSensitive: Bool
    }

    private static let sizeLimit = 4 << 20
    private let path: String
    private var globs: [Glob] = []
    private var readAt: timespec?

    init(path: String) {
        self.path = path
    }

    /// Returns the type of the heaviest pattern that the name matches; of several, that of the longest.
    func type(ofFile name: String) -> String {
        readIfChanged()
        let lowercased = name.lowercased()
        let matching = globs.filter { glob in
            unsafe fnmatch(glob.pattern, name, 0) == 0
                || (!glob.isCaseSensitive && fnmatch(glob.pattern.lowercased(), lowercased, 0) == 0)
        }
        let best = matching.max { ($0.weight, $0.pattern.utf8.count) < ($1.weight, $1.pattern.utf8.count) }
        return best?.type ?? Self.unknown
    }

    private func readIfChanged() {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            (globs, readAt) = ([], nil)
            return
        }
        if let readAt, readAt.tv_sec == status.st_mtim.tv_sec, readAt.tv_nsec == status.st_mtim.tv_nsec { return }
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        // For want of a descriptor: the next query tries again.
        guard number >= 0 else { return }
        let text = String(decoding: Descriptor(owning: number).readAll(limit: Self.sizeLimit) ?? [], as: UTF8.self)
        globs = text.split(separator: "\n").compactMap(Self.glob)
        readAt = status.st_mtim
    }

    private static func glob(_ line: Substring) -> Glob? {
        let parts = line.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count >= 3, let weight = Int(parts[0]), !parts[2].isEmpty else { return nil }
        return Glob(
            weight: weight, type: String(parts[1]), pattern: String(parts[2]),
            isCaseSensitive: parts.count > 3 && parts[3].split(separator: ",").contains("cs"))
    }
}
