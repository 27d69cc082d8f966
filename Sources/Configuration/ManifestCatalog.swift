/// Finds the manifests of several directories.
struct ManifestCatalog {
    /// The directories that hold `apps.d`, the one that outranks all others last.
    let directories: [String]
    let limit: Int

    /// A manifest's file: `name` in `directory`.
    struct File: Equatable {
        let directory: String
        let name: String
    }

    /// The files that count, those of the higher directories first and by name within each: of several files of one
    /// name only the highest counts, whatever is in it.
    func files(reportingTo problems: inout ProblemList) -> [File] {
        var names: Set<String> = []
        var files: [File] = []
        for directory in directories.reversed().map({ "\($0)/apps.d" }) {
            do throws(TextFile.Failure) {
                let found = try Directory.names(in: directory, endingIn: ".toml") ?? []
                files += found.sorted().filter { names.insert($0).inserted }.map {
                    File(directory: directory, name: $0)
                }
            } catch {
                problems.add(Problem(file: directory, message: error.message))
            }
        }
        if let first = files.dropFirst(limit).first {
            let message = "\(files.count - limit) manifests are left out, because limits.apps is \(limit)"
            problems.add(Problem(file: first.directory, message: message))
        }
        return Array(files.prefix(limit))
    }
}
