import Glibc

/// Finds the programs that commands name.
struct ProgramSearch {
    /// Directories in the form of the PATH variable. Only absolute ones count: what an app is must not depend on where
    /// its daemon was started.
    let path: String

    enum Failure: Error, Equatable {
        case missing
        case notExecutable
    }

    /// The absolute path of a program that can be executed, by somebody at least.
    func find(_ program: String) throws(Failure) -> String {
        if program.hasPrefix("/") { return try check(program) }
        var isThere = false
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            do throws(Failure) {
                return try check("\(directory)/\(program)")
            } catch {
                isThere = isThere || error == .notExecutable
            }
        }
        throw isThere ? .notExecutable : .missing
    }

    private func check(_ file: String) throws(Failure) -> String {
        var status = stat()
        guard unsafe stat(file, &status) == 0 else { throw .missing }
        let executable = status.st_mode & S_IFMT == S_IFREG && status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH) != 0
        guard executable else { throw .notExecutable }
        return file
    }
}
