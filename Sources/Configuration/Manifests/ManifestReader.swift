/// Reads manifests, each by itself.
struct ManifestReader {
    let instance: Instance
    /// The directories of programs without a path; nil if programs are not looked up.
    let searchPath: String?
    /// The directory that only a user's own daemon reads; the others are meant for the system's daemon too.
    let ownDirectory: String?
    /// The desktop entries that provide the commands of manifests without one.
    let entries: DesktopEntries?

    /// A manifest, and the line that gives its id where one does.
    struct Entry {
        var manifest: Manifest
        var idLine: Int?
        /// Where it says that it is launched with the daemon.
        var startLine: Int?
    }

    enum Outcome {
        case valid(Entry)
        case invalid([Problem])

        /// The file is gone, masks others of its name, or is for the system's daemon alone.
        case nothing
    }

    /// Reads the manifest at `directory/name`.
    func read(_ name: String, in directory: String) throws(LoadFailure) -> Outcome {
        let file = "\(directory)/\(name)"
        do throws(Defect) {
            guard case .text(let text)? = try TextFile.readTrusted(file) else { return .nothing }
            return try parse(
                text, of: file, defaultID: String(decoding: name.utf8.dropLast(".toml".utf8.count), as: UTF8.self),
                isShared: directory != ownDirectory)
        } catch {
            if let failure = LoadFailure(error, at: file) { throw failure }
            return .invalid([Problem(error, of: file)])
        }
    }

    private func parse(_ text: String, of file: String, defaultID: String, isShared: Bool) throws(Defect) -> Outcome {
        let document = try TOMLDocument(text)
        var manifest = Manifest(id: defaultID, file: file, command: [])
        var problems = Manifest.schema.apply(document, of: file, to: &manifest).problems
        // A shared manifest with a user is no mistake; it is just not for a user's own daemon.
        if isShared, instance == .user, manifest.user != nil { return .nothing }
        if problems.isEmpty, manifest.command.isEmpty {
            let finding = try findEntry(of: manifest.id)
            // An app of a desktop is for a user's daemon, or names its user.
            if instance == .system, manifest.user == nil, finding != nil { return .nothing }
            problems = applyEntry(finding, document, into: &manifest)
        }
        if problems.isEmpty { problems = complete(&manifest, from: document) }
        var entry = Entry(manifest: manifest, idLine: document.line(of: ["id"]))
        if manifest.launchAtStart != nil { entry.startLine = document.line(of: ["launchAtStart"]) }
        return problems.isEmpty ? .valid(entry) : .invalid(problems)
    }

    private func findEntry(of id: String) throws(Defect) -> DesktopEntries.Finding? {
        do throws(LoadFailure) {
            return try entries?.find(id)
        } catch {
            throw Defect(cannot: "read \(error.file)", error: error.error)
        }
    }

    /// Completes a manifest with the desktop entry of its id, if one exists.
    private func applyEntry(
        _ finding: DesktopEntries.Finding?, _ document: TOMLDocument, into manifest: inout Manifest
    ) -> [Problem] {
        switch finding {
        case nil: return []
        case .unusable(let problem):
            let message =
                "cannot use the manifest: it has no command, and its desktop entry cannot be used (\(problem)); add command"
            return [Problem(file: manifest.file, line: document.line(of: ["command"]), message: message)]
        case .entry(let entry):
            var base = entry.manifest
            base.file = manifest.file
            _ = Manifest.schema.apply(document, of: manifest.file, to: &base)
            // A mistake in a key of the entry is none of this file, and the app can do without the key.
            manifest = base
            return []
        }
    }

    /// Checks what no key can check alone.
    private func complete(_ manifest: inout Manifest, from document: TOMLDocument) -> [Problem] {
        var problems: [Problem] = []
        func report(_ key: String, _ message: String) {
            problems.append(Problem(file: manifest.file, line: document.line(of: [key]), message: message))
        }
        if !AppIdentifier.isValid(manifest.id) {
            report(
                "id", "cannot use the file's name as the id: expected \(AppIdentifier.rule); rename the file or add id")
        }
        if manifest.user != nil, instance == .user {
            report("user", "cannot use user: only the system's daemon can launch apps as another user; remove the key")
        }
        if manifest.privateTmp, instance == .user {
            report(
                "privateTmp",
                "cannot use privateTmp: only the system's daemon can make a mount namespace; remove the key")
        }
        guard let program = manifest.command.first else {
            report(
                "command",
                #"cannot use the manifest: it has no command; add command = ["/path/to/program", "argument"]"#)
            return problems
        }
        guard let searchPath else { return problems }
        if instance == .system, let user = manifest.user, !UserDatabase.has(user: user) {
            report("user", "cannot use user: the machine has no user \(user.quoted); add the user or correct the name")
        }
        // A manifest may have a PATH of its own.
        let search = ProgramSearch(path: manifest.environment["PATH"] ?? searchPath)
        do throws(ProgramSearch.Failure) {
            try search.check(program)
        } catch {
            report("command", "cannot use command: \(Self.explain(error, of: program, in: search))")
        }
        return problems
    }

    private static func explain(
        _ failure: ProgramSearch.Failure, of program: String, in search: ProgramSearch
    ) -> String {
        let place = program.hasPrefix("/") ? "" : " in \(search.path.quoted)"
        return switch failure {
        case .missing: "the program \(program.quoted) does not exist\(place); install it or change the key"
        case .notExecutable:
            "the program \(program.quoted)\(place) is not an executable file; run 'chmod +x' or change the key"
        }
    }
}

/// Finds the manifests of several directories.
struct ManifestCatalog {
    /// The directories that hold `apps.d`, the highest last.
    let directories: [String]
    let limit: Int

    /// A manifest's file: `name` in `directory`.
    struct File: Equatable {
        let directory: String
        let name: String
    }

    /// Returns the files that count, those of the higher directories first and by name within each: of several files of
    /// one name only the highest counts, whatever is in it.
    func files(reportingTo problems: inout ProblemList) throws(LoadFailure) -> [File] {
        var names: Set<String> = []
        var files: [File] = []
        for directory in directories.reversed().map({ "\($0)/apps.d" }) {
            do throws(Defect) {
                let found =
                    try Directory.names(in: directory, endingIn: ".toml") { name in
                        let message = "cannot read the file: its name is not valid UTF-8; rename it"
                        problems.add(Problem(file: "\(directory)/\(name)", message: message))
                    } ?? []
                files += found.sorted().filter { names.insert($0).inserted }.map {
                    File(directory: directory, name: $0)
                }
            } catch {
                if let failure = LoadFailure(error, at: directory) { throw failure }
                problems.add(Problem(error, of: directory))
            }
        }
        if let first = files.dropFirst(limit).first {
            let message = "cannot use \(files.count - limit) manifests: limits.apps is \(limit); raise it"
            problems.add(Problem(file: first.directory, message: message))
        }
        return Array(files.prefix(limit))
    }
}
