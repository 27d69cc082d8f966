import Glibc
import Testing

/// The sample apps, each with what it takes to start it.
enum Sample: String, CaseIterable {
    case swift
    case c
    case python
    case shell

    func command() throws -> [String] {
        switch self {
        case .swift: [Build.product("SampleApp")]
        case .c: [try Build.cApp.get()]
        case .python: ["python3", Build.root + "/Examples/python-app/app.py"]
        case .shell: ["/bin/sh", Build.root + "/Examples/shell-app/app"]
        }
    }

    func environment() throws -> [String: String] {
        switch self {
        case .swift, .shell: [:]
        case .c, .python: ["LD_LIBRARY_PATH": try Build.cLibrary.get() + "/lib"]
        }
    }
}

/// Where things are built, and the building of what the package manager does not build.
enum Build {
    struct Failure: Error {
        var command: String
    }

    /// The package's folder.
    static let root: String = {
        var parts = #filePath.split(separator: "/")
        parts.removeLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// The folder of the C library, which is built here when it is not up to date.
    static let cLibrary: Result<String, any Error> = Result {
        let folder = root + "/.build/liblifecycle"
        try run([root + "/scripts/build-liblifecycle", folder])
        return folder
    }

    /// The C samples, linked with the library.
    static let cApp = cSample("c-app")
    static let cScenes = cSample("c-scenes")

    private static func cSample(_ name: String) -> Result<String, any Error> {
        Result {
            let library = try cLibrary.get()
            let program = library + "/\(name)"
            try run([
                "clang", "-Wall", "-Wextra", "-Werror", "-I", library + "/include",
                root + "/Examples/\(name)/main.c", "-L", library + "/lib", "-llifecycle", "-o", program,
            ])
            return program
        }
    }

    /// A program that the package manager built beside the one that runs these tests.
    static func product(_ name: String) -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink("/proc/self/exe", &path, path.count)
        let executable = String(decoding: path.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return executable.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/\(name)"
    }

    private static func run(_ command: [String]) throws {
        // A toolchain of another release finds its libraries there.
        let libraries = unsafe getenv("LD_LIBRARY_PATH").map { unsafe ["LD_LIBRARY_PATH": String(cString: $0)] }
        let process = try AppProcess(command, channel: nil, environment: libraries ?? [:])
        let lines = try process.remainingLines()
        guard try process.status() == 0 else { throw Failure(command: (command + lines).joined(separator: " ")) }
    }
}
