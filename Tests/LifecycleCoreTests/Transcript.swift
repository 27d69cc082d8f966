import Glibc

/// A text file of cases: input lines, a rule, and the lines that a ``World`` writes for them.
///
/// | a line | is |
/// |---|---|
/// | `# text` | a comment |
/// | `=== name` | the beginning of a case, in a world without apps |
/// | `----` | the rule between the input lines of a block and its expected lines |
/// | an empty line | the end of a block |
///
/// A block without a rule is a preparation: its lines are not compared.
struct Transcript {
    struct Unreadable: Error { let path: String }

    /// An input line that cannot be interpreted.
    struct Mistake: Error, CustomStringConvertible {
        let line: Int
        let description: String
    }

    /// A block whose expected lines are not those that the world wrote.
    struct Difference {
        let name: String
        /// The number of the first expected line, from 1.
        let line: Int
        let expected: [String]
        let actual: [String]
    }

    private struct Block {
        /// The line after the rule, and the line after the last expected one, from 0; empty where there is no rule.
        var expected: Range<Int>
        /// The numbers of the input lines, from 0.
        var inputs: [Int] = []
        var hasRule = false
    }

    private enum Item {
        case title(String)
        case block(Block)
    }

    private let lines: [String]
    private let items: [Item]

    init(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last == "" { lines.removeLast() }
        self.lines = lines
        items = Self.items(of: lines)
    }

    /// The names of the cases.
    var names: [String] { items.compactMap { if case .title(let name) = $0 { name } else { nil } } }

    private static func items(of lines: [String]) -> [Item] {
        var items: [Item] = []
        var block: Block?
        func finish(at index: Int) {
            guard var done = block else { return }
            done.expected = done.hasRule ? done.expected.lowerBound..<index : index..<index
            items.append(.block(done))
            block = nil
        }
        for (index, line) in lines.enumerated() {
            if line.hasPrefix("=== ") {
                finish(at: index)
                items.append(.title(String(line.dropFirst(4))))
            } else if line.isEmpty || line.hasPrefix("#") {
                finish(at: index)
            } else if line == "----" {
                block = block ?? Block(expected: index..<index)
                block?.hasRule = true
                block?.expected = index + 1..<index + 1
            } else if block?.hasRule != true {
                block = block ?? Block(expected: index..<index)
                block?.inputs.append(index)
            }
        }
        finish(at: lines.count)
        return items
    }

    /// Plays all cases.
    ///
    /// - Returns: The blocks that differ, and the text with the lines that the world wrote.
    /// - Throws: ``Mistake``.
    func play() throws(Mistake) -> (differences: [Difference], text: String) {
        var (differences, written, copied) = ([Difference](), [String](), 0)
        var (name, world) = ("", World())
        for item in items {
            switch item {
            case .title(let title): (name, world) = (title, World())
            case .block(let block):
                for index in block.inputs { try play(index, in: &world) }
                let actual = world.lines()
                guard block.hasRule else { continue }
                let expected = Array(lines[block.expected])
                if expected != actual {
                    differences.append(
                        Difference(
                            name: name, line: block.expected.lowerBound + 1, expected: expected, actual: actual))
                }
                written += lines[copied..<block.expected.lowerBound] + actual
                copied = block.expected.upperBound
            }
        }
        written += lines[copied...]
        return (differences, written.joined(separator: "\n") + "\n")
    }

    private func play(_ index: Int, in world: inout World) throws(Mistake) {
        var words = TranscriptWords(lines[index])
        do {
            try world.play(&words)
        } catch {
            throw Mistake(line: index + 1, description: "\(lines[index]): \(error)")
        }
    }
}

extension Transcript.Difference {
    /// The expected lines with `-` and the actual ones with `+` before those that differ.
    var diff: String {
        let difference = actual.difference(from: expected)
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (rows, old, new) = ([String](), 0, 0)
        while old < expected.count || new < actual.count {
            if old < expected.count, removed.contains(old) {
                rows.append("- " + expected[old])
                old += 1
            } else if new < actual.count, inserted.contains(new) {
                rows.append("+ " + actual[new])
                new += 1
            } else {
                rows.append("  " + actual[new])
                (old, new) = (old + 1, new + 1)
            }
        }
        return rows.joined(separator: "\n")
    }
}

extension Transcript {
    /// Where the files are.
    static let folder =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        + "/Transcripts"

    /// The names of the files, in alphabetical order.
    static let files: [String] = {
        guard let stream = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.hasSuffix(".txt") { names.append(name) }
        }
        return names.sorted()
    }()

    init(file: String) throws(Unreadable) {
        let path = Self.folder + "/" + file
        guard let stream = unsafe fopen(path, "r") else { throw Unreadable(path: path) }
        defer { unsafe fclose(stream) }
        var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
        while case let count = unsafe fread(&chunk, 1, chunk.count, stream), count > 0 { bytes += chunk[..<count] }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Replaces a file.
    static func write(_ text: String, to file: String) throws(Unreadable) {
        let path = folder + "/" + file
        guard let stream = unsafe fopen(path, "w") else { throw Unreadable(path: path) }
        let bytes = Array(text.utf8)
        let count = unsafe fwrite(bytes, 1, bytes.count, stream)
        guard unsafe fclose(stream) == 0, count == bytes.count else { throw Unreadable(path: path) }
    }
}
