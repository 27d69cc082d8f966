@testable import Configuration

extension FuzzTarget {
    /// A text, as any of the files that users write.
    static let toml = FuzzTarget("toml", takesList: true) { bytes in
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") } + 1
        do throws(Defect) {
            let document = try TOMLDocument(text)
            checkLines(of: document.root, in: document, at: [], lineCount)
        } catch {
            let line = error.line ?? 0
            require((1...lineCount).contains(line), "a defect is in a line of the text: \(line)")
            require(!error.message.unicodeScalars.contains { $0.value < 32 }, "a message is one line")
        }
    }

    private static func checkLines(
        of table: [String: TOMLNode], in document: TOMLDocument, at path: [String], _ lineCount: Int
    ) {
        for (name, node) in table {
            let line = document.line(of: path + [name])
            require(line.map { (1...lineCount).contains($0) } == true, "every key has a line: \(path + [name])")
            if case .table(let inner) = node { checkLines(of: inner, in: document, at: path + [name], lineCount) }
        }
    }

    /// A manifest. What it means for the machine (whether a program exists) is left out.
    static let manifest = FuzzTarget("manifest", takesList: true) { bytes in
        let blank = Manifest(id: "app", file: "app.toml", command: [])
        apply(bytes, Manifest.schema, to: blank)
    }

    /// `lifed.toml`.
    static let settings = FuzzTarget("settings", takesList: true) { bytes in
        apply(bytes, DaemonSettings.schema, to: DaemonSettings())
    }

    private static func apply<Subject>(_ bytes: [UInt8], _ schema: Schema<Subject>, to subject: Subject) {
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        guard let document = try? TOMLDocument(text) else { return }
        var subject = subject
        let outcome = schema.apply(document, of: "file", to: &subject)
        require(outcome.problems.count <= Schema<Subject>.problemLimit + 1, "there are only so many problems")
        // What a problem says depends on nothing but itself, and takes its time: a few of them are enough.
        for problem in outcome.problems.prefix(3) {
            require(!problem.message.unicodeScalars.contains { $0.value < 32 }, "a problem is one line of plain text")
            require(problem.message.utf8.count < 8192, "a problem can be read")
        }
    }
}
