import Glibc
import Testing

/// Holds the sources to the directions that docs/ARCHITECTURE.md draws.
@Suite struct ImportTests {
    /// What each target may import, of ours and of others.
    static let allowed: [String: Set<String>] = [
        "LifecycleCore": ["OrderedCollections", "HeapModule"],
        "AppChannel": [],
        "LifecycleClient": ["AppChannel", "CLifecycle"],
        "Lifecycle": ["AppChannel", "LifecycleClient", "CMainQueue", "Dispatch", "Glibc"],
        "LifecycleC": ["AppChannel", "LifecycleClient", "CLifecycle", "LifecycleHeader"],
        "Processes": ["CLinux", "Glibc", "Synchronization"],
        "Systemd": ["CSystemd", "Glibc"],
        "Varlink": ["FoundationEssentials", "Glibc"],
        "ControlAPI": ["Varlink", "Glibc"],
        "Calendar": [],
        "Configuration": ["Calendar", "TOMLKit", "Glibc", "Synchronization"],
        "LifecycleDaemon": [
            "LifecycleCore", "CLinux", "Processes", "Systemd", "Varlink", "ControlAPI", "Configuration", "AppChannel",
            "Calendar",
            "Glibc",
        ],
        "lifed": ["LifecycleDaemon", "ControlAPI", "ArgumentParser", "Glibc"],
        "lifectl": ["ControlAPI", "Varlink", "ArgumentParser", "FoundationEssentials", "Glibc"],
    ]

    /// Words that the core must not know: it has no clock, no chance, no input and no output.
    static let strangeToTheCore: Set<String> = [
        "ContinuousClock", "SuspendingClock", "clock_gettime", "Date", "Task", "async", "await", "random",
        "randomElement", "shuffle", "shuffled", "SystemRandomNumberGenerator", "print", "debugPrint", "getenv",
    ]

    @Test(arguments: allowed.keys.sorted())
    func `imports follow the arrows`(target: String) throws {
        let allowed = try #require(Self.allowed[target])
        let files = try SourceTree.swiftFiles(of: target)
        #expect(!files.isEmpty, "there are no sources in \(target)")
        for file in files {
            for module in file.imports where !allowed.contains(module) {
                Issue.record("\(file.path) imports \(module)")
            }
        }
    }

    @Test func `every target with Swift sources has its arrows`() throws {
        for target in try SourceTree.targets() where try !SourceTree.swiftFiles(of: target).isEmpty {
            #expect(Self.allowed[target] != nil, "\(target) is not in the table")
        }
    }

    @Test func `the core knows no clock, no chance and no world`() throws {
        for file in try SourceTree.swiftFiles(of: "LifecycleCore") {
            for line in file.code {
                let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
                for word in words where Self.strangeToTheCore.contains(word) {
                    Issue.record("\(file.path): \(word) in \(line)")
                }
            }
        }
    }

    @Test func `the main program is small`() throws {
        let lines = try SourceTree.swiftFiles(of: "lifed").reduce(0) { $0 + $1.lines.count }
        #expect(lines < 60, "lifed has \(lines) lines")
    }
}

/// One source file, as far as these tests look at it.
struct SourceFile {
    let path: String
    let lines: [Substring]

    /// The lines without those that are comments.
    var code: [Substring] {
        lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
    }

    var imports: [String] {
        code.compactMap { line in
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 1, words.count > index + 1 else { return nil }
            guard index == 0 || ["public", "internal", "package", "private", "@testable"].contains(words[0]) else {
                return nil
            }
            return words[index + 1].split(separator: ".").first.map(String.init)
        }
    }
}

/// The package's own sources, found from where this file lies.
enum SourceTree {
    struct Unreadable: Error { let path: String }

    static var root: String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    }

    static func targets() throws -> [String] {
        try entries(of: root + "/Sources").sorted()
    }

    static func swiftFiles(of target: String) throws -> [SourceFile] {
        try paths(below: root + "/Sources/" + target).filter { $0.hasSuffix(".swift") }.sorted().map { path in
            SourceFile(path: path, lines: try read(path).split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    private static func paths(below directory: String) throws -> [String] {
        try entries(of: directory).flatMap { name in
            let path = directory + "/" + name
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { throw Unreadable(path: path) }
            return status.st_mode & S_IFMT == S_IFDIR ? try paths(below: path) : [path]
        }
    }

    private static func entries(of directory: String) throws -> [String] {
        guard let stream = unsafe opendir(directory) else { throw Unreadable(path: directory) }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    static func read(_ path: String) throws -> String {
        guard let file = unsafe fopen(path, "r") else { throw Unreadable(path: path) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
