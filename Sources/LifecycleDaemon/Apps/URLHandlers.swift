import AppChannel
import Configuration
import ControlAPI
import LifecycleCore

/// Who opens what, by what manifests declare.
struct URLHandlers {
    let apps: [AppID: AppDefinition]
    /// Who opens what several could, by scheme or media type.
    let defaults: [String: String]
    /// What a person's desktop says of types, by type.
    var choices: [String: Associations.Choice] = [:]

    /// The app that opens a URL: for a file the one that declares its type, for anything else its scheme.
    ///
    /// - Throws: An error that names the candidates, when there is not exactly one and none is the default.
    func app(for url: URLText, type: String?) throws(ControlError) -> AppID {
        let keys = Self.keys(for: url, type: type)
        for key in keys {
            if let name = defaults[key], apps[AppID(name)] != nil { return AppID(name) }
            let choice = choices[Self.type(of: key)] ?? Associations.Choice()
            let candidates = candidates(for: key, choice)
            if candidates.count == 1, let only = candidates.first { return only }
            // What is there as the default comes before what is there besides.
            if let chosen = (choice.defaults + choice.added).lazy.map(AppID.init).first(where: candidates.contains) {
                return chosen
            }
            if candidates.count > 1 { throw Self.ambiguous(key, candidates.sorted()) }
        }
        let what = keys[0]
        throw ControlError(
            .noSuchApp, id: nil, reason: "no app opens \(what)",
            remedy: "Name one with --app, or have its manifest declare "
                + (what.contains("/") ? "mimeTypes = [\"\(what)\"]." : "schemes = [\"\(what)\"]."))
    }

    /// An app whose command stands in a desktop entry opens what the desktop says that it opens. A manifest has the last word
    /// about its own app.
    private func candidates(for key: String, _ choice: Associations.Choice) -> Set<AppID> {
        let named = Set(choice.defaults + choice.added)
        let opening = apps.filter { id, app in
            guard app.isFromEntry else { return app.opens.contains(key) }
            // Other programs open things with lifed by such an entry; it would lead back here.
            guard app.command.first?.split(separator: "/").last != "lifectl" else { return false }
            return named.contains(id.name) || (app.opens.contains(key) && !choice.removed.contains(id.name))
        }
        return Set(opening.keys)
    }

    /// The types that a choice can be made for, for what is to be opened.
    static func types(for url: URLText, type: String?) -> Set<String> {
        Set(keys(for: url, type: type).map(Self.type(of:)))
    }

    /// The type that stands for a scheme in the shared MIME database.
    private static func type(of key: String) -> String { key.contains("/") ? key : "x-scheme-handler/\(key)" }

    private static func keys(for url: URLText, type: String?) -> [String] {
        url.filePath == nil ? [url.scheme] : keys(ofType: type ?? MediaTypes.unknown) + [url.scheme]
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
