import AppChannel
import Configuration
import ControlAPI
import LifecycleCore

/// Who opens what, by what manifests declare.
struct URLHandlers {
    let apps: [AppID: AppDefinition]
    /// Who opens what several could, by scheme or media type.
    let defaults: [String: String]

    /// The app that opens a URL: for a file the one that declares its type, for anything else its scheme.
    ///
    /// - Throws: An error that names the candidates, when there is not exactly one and none is the default.
    func app(for url: URLText, type: String?) throws(ControlError) -> AppID {
        let keys = url.filePath == nil ? [url.scheme] : Self.keys(ofType: type ?? MediaTypes.unknown) + [url.scheme]
        for key in keys {
            let candidates = apps.filter { $0.value.opens.contains(key) }.map(\.key).sorted()
            if let name = defaults[key], apps[AppID(name)] != nil { return AppID(name) }
            if candidates.count == 1 { return candidates[0] }
            if candidates.count > 1 { throw Self.ambiguous(key, candidates) }
        }
        let what = keys[0]
        throw ControlError(
            .noSuchApp, id: nil, reason: "no app opens \(what)",
            remedy: "Name one with --app, or have its manifest declare "
                + (what.contains("/") ? "mimeTypes = [\"\(what)\"]." : "schemes = [\"\(what)\"]."))
    }

    /// What to look for, the closest first. Every text can be read as plain text.
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
            remedy: "Choose one with --app, or for good in lifed.toml: [defaults] \"\(key)\" = \"\(candidates[0])\".")
    }
}

extension AppDefinition {
    /// The arguments that stand for what is to be opened, as in the Exec key of a desktop entry.
    private static let fieldCodes: Set<String> = ["%u", "%U", "%f", "%F"]

    /// Whether it gets what it is to open as an argument.
    var takesURLs: Bool {
        exec?.takesURLs ?? (!isAdHoc && command.dropFirst().contains { Self.fieldCodes.contains($0) })
    }

    /// The command with what is to be opened in its place; with nothing to open, the place is left out. What somebody
    /// runs ad hoc is run as it is.
    func command(opening url: String?) -> [String] {
        let file = url.flatMap { URLText($0)?.filePath }
        if let exec { return exec.command(opening: url, path: file) }
        guard takesURLs, let program = command.first else { return command }
        let path = file ?? url
        return [program]
            + command.dropFirst().compactMap { argument in
                switch argument {
                case "%u", "%U": url
                case "%f", "%F": path
                default: argument
                }
            }
    }
}

extension AppEvent {
    /// The launch callbacks have other fields beside a URL.
    private static let lineLimit = 7 << 10

    /// Whether a line of the app protocol takes it.
    var fitsALine: Bool {
        let message = CallbackMessage(
            CallbackKind(callback), sequence: SequenceNumber(rawValue: .max), deadlineMilliseconds: .max,
            state: .background, fields: fields)
        guard let bytes = try? MessageToApp.callback(message).encoded() else { return false }
        return bytes.count <= Self.lineLimit
    }
}
