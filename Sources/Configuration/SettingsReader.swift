/// Merges the `lifed.toml` of several directories, key by key.
struct SettingsReader {
    private(set) var settings = Settings()
    private let toml: TOMLReader

    /// Where the home app was named, for the problem of there being no such app.
    private var homeAppPlace: (file: String, line: Int?)?

    init(toml: TOMLReader) {
        self.toml = toml
    }

    /// Reads one file, which outranks all that were read before it. No file is no problem.
    ///
    /// - Parameter takesHomeApp: False for a file whose home app is that of another daemon.
    mutating func read(_ file: String, takesHomeApp: Bool = true, reportingTo problems: inout ProblemList) {
        let homeApp = settings.homeApp
        let homeAppPlace = homeAppPlace
        defer {
            if !takesHomeApp {
                settings.homeApp = homeApp
                self.homeAppPlace = homeAppPlace
            }
        }
        do throws(TextFile.Failure) {
            guard case .text(let text)? = try TextFile.read(file, trusted: true) else { return }
            apply(text, of: file, reportingTo: &problems)
        } catch {
            problems.add(Problem(file: file, line: error.line, message: error.message))
        }
    }

    private mutating func apply(_ text: String, of file: String, reportingTo problems: inout ProblemList) {
        do throws(TOMLDefect) {
            let document = try TOMLDocument(text, reader: toml)
            let outcome = Settings.schema.apply(document, of: file, to: &settings)
            if outcome.accepted.contains(["homeApp"]) { homeAppPlace = (file, document.line(of: ["homeApp"])) }
            problems.add(outcome.problems)
        } catch {
            problems.add(Problem(file: file, line: error.line, message: error.message))
        }
    }

    /// Leaves a home app that is not among `ids` out.
    mutating func requireHomeApp(among ids: some Sequence<String>, reportingTo problems: inout ProblemList) {
        guard let id = settings.homeApp, let homeAppPlace, !ids.contains(id) else { return }
        settings.homeApp = nil
        let message = "homeApp: no usable manifest has the id \(id.quoted)"
        problems.add(Problem(file: homeAppPlace.file, line: homeAppPlace.line, message: message))
    }
}
