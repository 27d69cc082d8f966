import CommandLineTable
import ControlAPI
import Glibc

/// The file that describes an app: its manifest, or its desktop entry.
struct ManifestFile {
    let app: String
    let path: String
    let isManifest: Bool

    /// `lifectl cat`
    static func cat(_ arguments: Arguments) throws(Failure) {
        let app = arguments.app
        let action = "cannot print the manifest of \(app)"
        let file = try find(app, arguments.options, doing: action)
        let text = try file.read(doing: action)
        try arguments.options.show(ManifestText(app: app, file: file.path, text: text)) { _ in
            "# \(Text.printable(file.path))\n\(Text.printableLines(text))\(text.hasSuffix("\n") ? "" : "\n")"
        }
    }

    /// `lifectl edit`
    static func edit(_ arguments: Arguments) throws(Failure) {
        let (app, options) = (arguments.app, arguments.options)
        let action = "cannot edit the manifest of \(app)"
        let file = try find(app, options, doing: action)
        guard file.isManifest else {
            throw Failure(
                .refused, action, "the desktop entry \(file.path) describes it", id: app,
                remedy: "write a manifest \(app).toml, which takes precedence")
        }
        // Asked before the editor: a daemon that does not answer must not cost the user the changes.
        let session = try DaemonConnection(options, doing: action)
        let status = try session.call(.getStatus).status
        var edit = try ManifestEdit(of: file, doing: action)
        guard try edit.openEditor() else {
            edit.removeCopy()
            return try options.show(ManifestText(app: app, file: file.path, text: edit.original)) { _ in
                "\(Text.printable(file.path)) is unchanged\n"
            }
        }
        try edit.check(isUser: status.instance == "user")
        try edit.replaceFile()
        edit.removeCopy()
        try session.options.show(.reload, doing: "cannot reload the configuration") { $0.problems($1.problems) }
    }

    /// Finds the file of an app. A manifest with a mistake describes no app, but the daemon reports it as a problem.
    static func find(_ app: String, _ options: CallOptions, doing action: String) throws(Failure) -> ManifestFile {
        let session = try DaemonConnection(options, doing: action)
        let available = try session.call(.listAvailable, ListAvailableParameters(all: true)).apps
        let id = app.hasSuffix(".desktop") ? String(app.dropLast(".desktop".count)) : app
        if let found = available.first(where: { $0.id == id }) {
            return ManifestFile(app: id, path: found.file, isManifest: found.source == .manifest)
        }
        let name = "/apps.d/\(app).toml"
        if let problem = try session.call(.getStatus).status.problems.first(where: { $0.file.hasSuffix(name) }) {
            return ManifestFile(app: app, path: problem.file, isManifest: true)
        }
        throw Failure(
            .noSuchApp, action, "it has no manifest", id: app,
            remedy: "'lifectl list --available' lists the apps that have one")
    }

    func read(doing action: String) throws(Failure) -> String {
        do throws(OutputFile.Unreadable) {
            return try OutputFile.text(of: path)
        } catch {
            let (status, remedy): (ExitCode, String) =
                switch error.errno {
                case EACCES: (.notPermitted, "run the command as a user who may read the file")
                case EFBIG: (.invalidData, "shorten it to 1 MiB, which is what lifed reads")
                default: (.noSuchApp, "'lifectl reload' has lifed look for its files again")
                }
            throw Failure(status, action, "\(path): \(Text.error(error.errno))", id: app, remedy: remedy)
        }
    }
}

/// A copy of a manifest while a user edits it, in a directory that is laid out as the configuration is.
struct ManifestEdit {
    let original: String
    private let file: ManifestFile
    private let action: String
    private let directory: String
    private var text = ""

    private var copy: String { "\(directory)/apps.d/\(file.app).toml" }

    init(of file: ManifestFile, doing action: String) throws(Failure) {
        (self.file, self.action) = (file, action)
        original = try file.read(doing: action)
        let base = Environment.value("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        guard let directory = Self.makeDirectory(in: base) else {
            throw Failure(
                .output, action, "\(base): \(Text.error(errno))", remedy: "name another directory in TMPDIR")
        }
        self.directory = directory
        _ = unsafe mkdir("\(directory)/apps.d", 0o700)
        try OutputFile.write(original, to: copy)
    }

    /// Makes a directory for the copy, and returns its absolute path: messages name it, and the editor may have another working
    /// directory.
    private static func makeDirectory(in base: String) -> String? {
        guard let resolved = unsafe realpath(base, nil) else { return nil }
        defer { unsafe free(resolved) }
        var template = Array("\(unsafe String(cString: resolved))/lifectl-edit.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Lets the user edit the copy.
    ///
    /// - Returns: Whether the text has changed.
    mutating func openEditor() throws(Failure) -> Bool {
        let names = ["VISUAL", "EDITOR"].compactMap(Environment.value).filter { !$0.isEmpty }
        let editor = names.first ?? "vi"
        // The variables may have arguments, so that a shell reads them.
        let command = ["sh", "-c", "\(editor) \"$1\"", "sh", copy]
        let status = try ForegroundProgram.run(command.map { Array($0.utf8CString) })
        do throws(OutputFile.Unreadable) {
            text = try OutputFile.text(of: copy)
        } catch {
            throw failure("\(copy): \(Text.error(error.errno))")
        }
        guard status == 0 else { throw failure("the editor \(editor) ended with status \(status)") }
        return text != original
    }

    /// Has lifed check the copy.
    func check(isUser: Bool) throws(Failure) {
        let command = [Self.lifed, "--check", "--config-directory=\(directory)"] + (isUser ? ["--user"] : [])
        let child: ChildProcess
        do throws(ChildProcess.CannotStart) {
            child = try ChildProcess(command)
        } catch {
            throw Failure(
                .unavailable, action, "cannot run lifed: \(Text.error(error.errno))", id: file.app,
                remedy: "install lifed beside lifectl; your copy is \(copy)")
        }
        var problems: [String] = []
        while let line = child.nextLine() { problems.append(String(decoding: line, as: UTF8.self)) }
        let (status, complaints) = child.finish()
        guard status != 0 else { return }
        guard let found = problems.first else {
            throw failure(complaints.last ?? "lifed --check ended with status \(status)")
        }
        let count = problems.count > 1 ? " (and \(problems.count - 1) more)" : ""
        throw Failure(
            .invalidData, action, "\(found)\(count)", id: file.app,
            remedy: "the manifest is unchanged; correct your copy and copy it to \(file.path)")
    }

    /// The daemon's program: beside lifectl, or else in PATH.
    private static var lifed: String {
        let neighbour = (Environment.programDirectory ?? "") + "/lifed"
        return unsafe access(neighbour, X_OK) == 0 ? neighbour : "lifed"
    }

    /// Replaces the manifest by the copy in one step, with the owner and the mode that it had.
    ///
    /// - Throws: ``Failure``, also if another program has changed the manifest since it was copied.
    func replaceFile() throws(Failure) {
        guard let resolved = unsafe realpath(file.path, nil) else { throw failure(ofWriting: file.path, errno) }
        defer { unsafe free(resolved) }
        let path = unsafe String(cString: resolved)
        // The daemon reads files whose names end with .toml.
        let new = "\(path).lifectl-\(getpid())"
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw failure(ofWriting: path, errno) }
        let descriptor = unsafe open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(ofWriting: path, errno) }
        var error = DescriptorIO.write(Array(text.utf8), to: descriptor)
        // Only root may keep another user as the owner.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        if error == 0, fchmod(descriptor, status.st_mode & 0o7777) != 0 || fsync(descriptor) != 0 {
            error = errno
        }
        close(descriptor)
        let isOriginal = OutputFile.read(path) == original
        if error == 0, isOriginal, unsafe rename(new, path) != 0 { error = errno }
        guard error != 0 || !isOriginal else { return }
        unsafe unlink(new)
        guard isOriginal else {
            throw Failure(
                .refused, action, "another program has changed \(path) meanwhile", id: file.app,
                remedy: "add its changes to your copy \(copy), and copy it to \(path)")
        }
        throw failure(ofWriting: path, error)
    }

    private func failure(ofWriting path: String, _ number: Int32) -> Failure {
        failure("\(path): \(Text.error(number))", number == EACCES ? .notPermitted : .output)
    }

    private func failure(_ reason: String, _ status: ExitCode = .failed) -> Failure {
        let hasCopy = unsafe access(copy, F_OK) == 0
        if !hasCopy { removeCopy() }
        return Failure(
            status, action, reason, id: file.app,
            remedy: "the manifest is unchanged" + (hasCopy ? "; your copy is \(copy)" : ""))
    }

    func removeCopy() {
        unsafe unlink(copy)
        unsafe rmdir("\(directory)/apps.d")
        unsafe rmdir(directory)
    }
}
