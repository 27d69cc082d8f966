import Glibc

/// An app, as a desktop entry describes it.
public struct DesktopEntry: Hashable, Sendable {
    /// The entry as a manifest; its file is the entry.
    public var manifest: Manifest

    /// A Boolean value that indicates whether menus show it. An entry that they do not show can be launched all the
    /// same.
    public var isShown = true

    /// Keys for lifed that could not be used; each concerns itself alone.
    public var problems: [Problem] = []

    /// An app that menus show.
    public init(manifest: Manifest) {
        self.manifest = manifest
    }
}

/// The facts in a desktop entry that concern an app that the desktop has started, whether lifed can launch it or not.
public struct DesktopEntryFacts: Hashable, Sendable {
    /// The name for users.
    public var name: String?

    /// The categories of menus.
    public var categories: Set<String> = []

    /// A Boolean value that indicates whether the program runs in a terminal.
    public var usesTerminal = false

    /// A Boolean value that indicates whether menus show the app.
    public var isShown = true

    /// A Boolean value that indicates whether a call to its name on the session bus launches the app.
    public var isActivatable = false

    /// The facts of an entry without a key.
    public init() {}
}

/// Reads desktop entries.
struct DesktopEntryReader {
    /// Longer than any entry with all of its translations, in bytes.
    static let sizeLimit = 262_144

    let locale: LocaleName
    /// Nil if programs are not looked up.
    let search: ProgramSearch?
    /// The terminal for entries that need one, with what comes before their command; empty for none.
    var terminal: [String] = []

    /// Returns the entry in the content of a file.
    ///
    /// - Throws: The reason why it cannot be launched.
    func entry(_ id: String, in content: TextFile.Content?, at path: String) throws(Problem) -> DesktopEntry {
        switch content {
        case nil: throw Problem(file: path, message: "cannot read the entry: it does not exist any more; ignoring it")
        case .masked:
            throw Problem(file: path, message: "cannot use the entry: it is empty, which hides the app; remove it")
        case .text(let text):
            do throws(Defect) {
                return try parse(Array(text.utf8), id, at: path)
            } catch {
                throw Problem(file: path, line: error.line, message: "cannot use the entry: \(error.message)")
            }
        }
    }

    /// The errors of a read that tell nothing about an entry. A missing entry would make its app unmanaged.
    static let failuresOfFacts = LoadFailure.shortages + [EIO]

    /// Reads the facts of an entry; nil if it is none.
    ///
    /// - Throws: ``LoadFailure`` if the file cannot be read for now.
    func facts(at path: String) throws(LoadFailure) -> DesktopEntryFacts? {
        let content: TextFile.Content?
        do throws(Defect) {
            content = try TextFile.read(path, limit: Self.sizeLimit)
        } catch {
            if let failure = LoadFailure(error, at: path, among: Self.failuresOfFacts) { throw failure }
            return nil
        }
        guard case .text(let text)? = content, let file = try? DesktopEntryFile(Array(text.utf8)) else { return nil }
        var facts = DesktopEntryFacts()
        facts.name = Self.title((try? file.localizedString(.name, locale)) ?? nil)
        facts.categories = Set(((try? file.strings(.categories)) ?? []).prefix(64))
        facts.usesTerminal = (try? file.boolean(.terminal)) ?? false
        facts.isShown = !((try? file.boolean(.noDisplay)) ?? false)
        facts.isActivatable = (try? file.boolean(.dBusActivatable)) ?? false
        return facts
    }

    /// Makes an app of an entry's text.
    func parse(_ bytes: [UInt8], _ id: String, at path: String) throws(Defect) -> DesktopEntry {
        let file = try DesktopEntryFile(bytes)
        try refuse(file)
        guard let value = try file.value(of: .exec), let line = try file.string(.exec) else {
            throw Defect(
                line: file.line,
                message: try file.boolean(.dBusActivatable)
                    ? "it has no Exec and is started over D-Bus, which lifed does not do; write a manifest with command"
                    : "it has no Exec; add it, or write a manifest with command")
        }
        let name = Self.title(try file.localizedString(.name, locale))
        var exec: ExecLine
        do throws(Defect) {
            let icon = try? file.localizedString(.icon, locale)
            exec = try ExecLine(line, of: ExecLine.Subject(name: name ?? id, icon: icon ?? nil, file: path))
        } catch {
            throw Defect(line: value.line, message: "Exec \(error.message)")
        }
        try check(exec.program, of: .exec, line: value.line)
        if try file.boolean(.terminal) {
            exec.terminal = terminal
            try check(terminal[0], of: .terminal, line: value.line)
        }
        var manifest = Manifest(id: id, file: path, command: exec.command())
        manifest.name = name
        manifest.exec = exec
        // Windows match an app by its id, too, so that a faulty class is no reason to refuse the entry.
        manifest.windowClass = (try? file.string(.startupWMClass)) ?? nil
        manifest.workingDirectory = try directory(file)
        (manifest.mimeTypes, manifest.schemes) = Self.types(try file.strings(.mimeType))
        var entry = DesktopEntry(manifest: manifest)
        entry.isShown = try !file.boolean(.noDisplay)
        LifedKeys.apply(file, of: path, to: &entry)
        return entry
    }

    /// Refuses an entry that cannot be launched, whatever its command.
    private func refuse(_ file: DesktopEntryFile) throws(Defect) {
        if try file.boolean(.hidden) {
            let line = try file.value(of: .hidden)?.line
            throw Defect(line: line, message: "Hidden=true deletes it; remove the key")
        }
        let type = try file.string(.type)
        guard type == "Application" else {
            throw Defect(
                line: try file.value(of: .type)?.line ?? file.line,
                message: "Type is \(type?.quoted ?? "missing"); expected Application")
        }
        if terminal.isEmpty, try file.boolean(.terminal) {
            throw Defect(
                line: try file.value(of: .terminal)?.line,
                message: "Terminal=true needs a terminal; add terminal = [\"foot\"] to lifed.toml")
        }
        if let value = try file.value(of: .tryExec), let program = try file.string(.tryExec) {
            try check(program, of: .tryExec, line: value.line)
        }
    }

    private func check(_ program: String, of key: DesktopEntryFile.Key, line: Int) throws(Defect) {
        guard let search else { return }
        let place = program.utf8.first == UInt8(ascii: "/") ? "" : " in \(search.path.quoted)"
        let what: String
        do throws(ProgramSearch.Failure) {
            return try search.check(program)
        } catch {
            what =
                error == .missing ? "does not exist\(place); install it" : "is not an executable file; run 'chmod +x'"
        }
        throw Defect(line: line, message: "the program \(program.quoted) of \(key.rawValue) \(what)")
    }

    private func directory(_ file: DesktopEntryFile) throws(Defect) -> String? {
        guard let path = try file.string(.path) else { return nil }
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count < 4096 else {
            throw Defect(
                line: try file.value(of: .path)?.line, message: "Path is \(path.quoted); expected an absolute path")
        }
        return path
    }

    /// Returns a name that can be shown; nil if the id must do.
    private static func title(_ text: String?) -> String? {
        text.flatMap { try? Kind<String>.title.read(.string($0)) }
    }

    /// Returns the media types and the schemes that it opens. Schemes have a media type of their own in the shared MIME
    /// database; other texts are ignored.
    private static func types(_ texts: [String]) -> (mimeTypes: Set<String>, schemes: Set<String>) {
        let prefix = "x-scheme-handler/"
        var types: Set<String> = []
        var schemes: Set<String> = []
        for text in texts.prefix(256) {
            if text.utf8.starts(with: prefix.utf8) {
                let scheme = String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
                if Kind<Set<String>>.isScheme(scheme) { schemes.insert(scheme.lowercased()) }
            } else if MediaType.isValid(text) {
                types.insert(text.lowercased())
            }
        }
        return (types, schemes)
    }
}

/// The keys that an entry can have for lifed: `X-Lifed-BackgroundModes` is what `backgroundModes` is in a manifest.
enum LifedKeys {
    static let prefix = "X-Lifed-"

    /// Takes every valid key over; a problem with one key concerns that key alone.
    static func apply(_ file: DesktopEntryFile, of path: String, to entry: inout DesktopEntry) {
        var omitted = 0
        for name in file.keys(withPrefix: prefix) {
            do throws(Defect) {
                try set(name, from: file, in: &entry.manifest)
            } catch {
                guard entry.problems.count < Schema<Manifest>.problemLimit else {
                    omitted += 1
                    continue
                }
                entry.problems.append(Problem(error, of: path))
            }
        }
        if omitted > 0 { entry.problems.append(ProblemList.notice(of: omitted, in: path)) }
    }

    private static func set(
        _ name: String, from file: DesktopEntryFile, in manifest: inout Manifest
    ) throws(Defect) {
        let key = key(named: name)
        let line: Int?
        do throws(Defect) {
            line = try file.value(named: name)?.line
        } catch {
            // An unknown key may have any length.
            throw Defect(line: error.line, message: key == nil ? unknown(name) : "cannot use a key: \(error.message)")
        }
        do throws(Mismatch) {
            guard let key else { throw Mismatch(message: unknown(name)) }
            try read(values(of: name, in: file), for: key, &manifest)
        } catch {
            throw Defect(line: line, message: error.named(name).message)
        }
    }

    private static func key(named name: String) -> Key<Manifest>? {
        var bytes = Array(name.utf8.dropFirst(prefix.utf8.count))
        guard let first = bytes.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return nil }
        bytes[0] = first | 0x20
        let own = String(decoding: bytes, as: UTF8.self)
        return Manifest.schema.keys.first { $0.isInEntries && $0.path == [own] }
    }

    private static func unknown(_ name: String) -> String {
        let known = Manifest.schema.keys.filter(\.isInEntries).map(\.path.dotted)
            .map { prefix + $0.prefix(1).uppercased() + $0.dropFirst() }.sorted()
        let hint = Suggestion.hint(Suggestion.forUnknown(name, among: known), otherwise: "ignoring it")
        return "cannot use \(name.quoted): unknown key\(hint)"
    }

    /// Returns the possible values in a manifest for a text: an entry has texts alone.
    private static func values(of name: String, in file: DesktopEntryFile) -> [TOMLNode] {
        let text = (try? file.string(named: name)) ?? ""
        var values: [TOMLNode] = [.string(text)]
        if let number = Int(text) { values.append(.integer(number)) }
        if let value = Bool(text) { values.append(.boolean(value)) }
        values.append(.array(((try? file.strings(named: name)) ?? []).map { .string($0) }))
        return values
    }

    /// Takes the first value that is of the right kind.
    private static func read(
        _ values: [TOMLNode], for key: Key<Manifest>, _ manifest: inout Manifest
    ) throws(Mismatch) {
        var first: Mismatch?
        for value in values {
            do throws(Mismatch) {
                return try key.read(value, &manifest)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}
