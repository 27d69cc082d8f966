import Glibc

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
            guard let index = words.firstIndex(of: "import"), words.count > index + 1 else { return nil }
            let modifiers: Set<Substring> = ["public", "internal", "package", "private", "@testable", "@_exported"]
            guard words[..<index].allSatisfy(modifiers.contains) else { return nil }
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

    static func targets(in folder: String = "Sources") throws -> [String] {
        try entries(of: root + "/" + folder).filter { isDirectory(root + "/" + folder + "/" + $0) }.sorted()
    }

    static func swiftFiles(of target: String, in folder: String = "Sources") throws -> [SourceFile] {
        try paths(below: root + "/" + folder + "/" + target).filter { $0.hasSuffix(".swift") }.sorted().map { path in
            SourceFile(path: path, lines: try read(path).split(separator: "\n", omittingEmptySubsequences: false))
        }
    }

    private static func paths(below directory: String) throws -> [String] {
        try entries(of: directory).flatMap { name in
            let path = directory + "/" + name
            return isDirectory(path) ? try paths(below: path) : [path]
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
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
