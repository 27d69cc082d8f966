import AppChannel
import CLinux
import Configuration
import ControlAPI
import Glibc
import LifecycleCore
import Processes

/// The apps that open URLs and files, as manifests and desktop entries declare.
struct URLHandlers {
    let apps: [AppID: AppDefinition]
    let defaults: [String: String]
    var choices: [String: Associations.Choice] = [:]
    /// The default apps of desktop entries, if ``apps`` has none of entries.
    var defaultEntries: Set<AppID> = []

    /// Returns the app that opens a URL: by its scheme, or by the type of a file.
    ///
    /// - Throws: An error that names the candidates, unless there is one or a default.
    func app(for url: URLText, type: String?) throws(ControlError) -> AppID {
        let keys = Self.keys(for: url, type: type)
        for key in keys {
            if let id = defaults[key].map({ AppID($0) }) {
                if apps[id] != nil { return id }
                if defaultEntries.contains(id) {
                    // Another entry may open a closer type.
                    if key == keys[0] { return id }
                    break
                }
            }
            let choice = choices[Self.type(of: key)] ?? Associations.Choice()
            let candidates = candidates(for: key, choice)
            if candidates.count == 1, let only = candidates.first { return only }
            // A default association comes before an added one.
            if let chosen = (choice.defaults + choice.added).lazy.map(AppID.init).first(where: candidates.contains) {
                return chosen
            }
            if candidates.count > 1 { throw Self.ambiguous(key, candidates.sorted()) }
        }
        let what = keys[0]
        throw ControlError(
            .noSuchApp, id: nil, reason: "no app opens \(what)",
            remedy: "name an app with --app, or add to its manifest "
                + (what.contains("/") ? "mimeTypes = [\"\(what)\"]" : "schemes = [\"\(what)\"]"))
    }

    /// Returns the apps that open a key. The user's choices apply to apps of desktop entries, not to those of manifests.
    private func candidates(for key: String, _ choice: Associations.Choice) -> Set<AppID> {
        let named = Set(choice.defaults + choice.added)
        let opening = apps.filter { id, app in
            guard app.isFromEntry else { return app.opens.contains(key) }
            // An entry that opens things with lifed would lead back here.
            guard app.command.first?.split(separator: "/").last != "lifectl" else { return false }
            return named.contains(id.name) || (app.opens.contains(key) && !choice.removed.contains(id.name))
        }
        return Set(opening.keys)
    }

    static func types(for url: URLText, type: String?) -> Set<String> {
        Set(keys(for: url, type: type).map(Self.type(of:)))
    }

    private static func type(of key: String) -> String { key.contains("/") ? key : "x-scheme-handler/\(key)" }

    private static func keys(for url: URLText, type: String?) -> [String] {
        url.filePath == nil ? [url.scheme] : keys(ofType: type ?? MediaTypes.unknown) + [url.scheme]
    }

    /// Returns the keys to search, the closest first. Every text is also plain text.
    private static func keys(ofType type: String) -> [String] {
        let type = type.lowercased()
        let whole = type.prefix { $0 != "/" } + "/*"
        return [type, String(whole)] + (type.hasPrefix("text/") ? ["text/plain"] : [])
    }

    private static func ambiguous(_ key: String, _ candidates: [AppID]) -> ControlError {
        let shown = 8
        let names =
            candidates.prefix(shown).map(\.name).joined(separator: ", ")
            + (candidates.count > shown ? " and \(candidates.count - shown) more" : "")
        return ControlError(
            .ambiguous, id: nil, reason: "several apps open \(key): \(names)",
            remedy: "choose one with --app, or set \"\(key)\" = \"\(candidates[0])\" under [defaults] in lifed.toml")
    }
}

extension AppDefinition {
    /// Returns the command with the URL in its place, or without one.
    func commandLine(opening url: String?) -> [String] {
        line.command(opening: url, path: url.flatMap { URLText($0)?.filePath })
    }
}

extension AppEvent {
    /// A Boolean value that indicates whether the event fits into a line of the app protocol.
    var fitsALine: Bool {
        let message = CallbackMessage(
            callback, sequence: SequenceNumber(rawValue: .max), deadlineMilliseconds: .max,
            state: .background, fields: fields)
        guard let bytes = try? MessageToApp.callback(message).encoded() else { return false }
        // The launch callbacks have other fields besides a URL.
        return bytes.count <= DeliveryLimit.lineBytes
    }
}

/// A URL as given. The daemon parses the scheme and the path of a file (RFC 3986); apps may have schemes of their own.
nonisolated struct URLText: Hashable, Sendable {
    let text: String
    let scheme: String

    /// Nil for a text without a scheme, or with characters that no URL has.
    init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon]
        guard scheme.first?.isLetter == true, scheme.utf8.count <= 64,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self.text = text
        self.scheme = scheme.lowercased()
    }

    /// The decoded path of a file on this machine; nil for any other URL.
    var filePath: String? {
        guard scheme == "file" else { return nil }
        // By bytes: a slash and a combining accent after it are one character.
        var rest = text.utf8.dropFirst("file:".utf8.count)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || Substring(host).lowercased() == "localhost" else { return nil }
            rest = rest.dropFirst(host.count)
        }
        let path = Self.decoded(rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        return path.flatMap { $0.utf8.first == UInt8(ascii: "/") && !$0.utf8.contains(0) ? $0 : nil }
    }

    var fileName: String? {
        filePath?.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

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
