/// The keys of one kind of file, and how each gets its value into a `Subject` and out of it.
package struct Schema<Subject>: Sendable {
    /// The limit of problems in one file; a hostile file could go on for long.
    static var problemLimit: Int { 20 }

    let sections: [KeySection<Subject>]
    package let keys: [Key<Subject>]

    /// - Parameter sections: The keys, as the manual page has them.
    init(sections: [KeySection<Subject>]) {
        self.sections = sections
        keys = sections.flatMap(\.keys)
    }

    package init(keys: [Key<Subject>]) { self.init(sections: [KeySection("", keys)]) }

    /// The result of a document's keys.
    package struct Outcome {
        /// The keys whose values were set.
        var accepted: [[String]] = []

        /// The others, in the order in which they stand in the file, up to the limit.
        package var problems: [Problem] = []
    }

    /// Returns the text of a file with the values that another subject has not.
    package func text(of subject: Subject, unlike other: Subject) -> String {
        keys.reduce(into: "") { text, key in
            guard let value = key.write(subject), value != key.write(other) else { return }
            text += "\(key.path.map(\.tomlKey).joined(separator: ".")) = \(value)\n"
        }
    }

    /// Returns the table for scripts/manual: a line for each key, with tabs between its section, name, default, use in desktop entries and
    /// meaning, in which `\n` is a line break.
    ///
    /// - Parameter initial: A subject with the defaults. A value that no file can have is none.
    func manual(defaults initial: Subject) -> String {
        sections.reduce(into: "") { text, section in
            for key in section.keys {
                let value = key.write(initial).flatMap { value in
                    var copy = initial
                    let document = try? TOMLDocument("\(key.path.dotted) = \(value)")
                    return document.map { apply($0, of: "", to: &copy).problems.isEmpty } == true ? value : nil
                }
                let fields = [section.title, key.path.dotted, value ?? "", key.isInEntries ? "entry" : "", key.manual]
                text +=
                    fields.joined(separator: "\t").split(separator: "\n", omittingEmptySubsequences: false)
                    .joined(separator: "\\n") + "\n"
            }
        }
    }

    /// Takes every valid value over into `subject`; a problem with one key concerns that key alone.
    package func apply(_ document: TOMLDocument, of file: String, to subject: inout Subject) -> Outcome {
        var outcome = Outcome()
        var omitted = 0
        visit(document.root, at: [], of: document) { path, node throws(Mismatch) in
            try set(node, at: path, into: &subject)
            outcome.accepted.append(path)
        } report: { mismatch in
            guard outcome.problems.count < Self.problemLimit else {
                omitted += 1
                return
            }
            let line = document.line(of: mismatch.path)
            outcome.problems.append(Problem(file: file, line: line, message: describe(mismatch)))
        }
        if omitted > 0 { outcome.problems.append(ProblemList.notice(of: omitted, in: file)) }
        return outcome
    }

    private func visit(
        _ table: [String: TOMLNode],
        at prefix: [String],
        of document: TOMLDocument,
        apply: ([String], TOMLNode) throws(Mismatch) -> Void,
        report: (Mismatch) -> Void
    ) {
        let places = table.map { name, node in
            let path = prefix + [name]
            return (line: document.line(of: path) ?? 0, name: name, path: path, node: node)
        }
        for (_, _, path, node) in places.sorted(by: { ($0.line, $0.name) < ($1.line, $1.name) }) {
            if case .table(let inner) = node, isSection(path) {
                visit(inner, at: path, of: document, apply: apply, report: report)
                continue
            }
            do throws(Mismatch) {
                try apply(path, node)
            } catch {
                report(error)
            }
        }
    }

    private func set(_ node: TOMLNode, at path: [String], into subject: inout Subject) throws(Mismatch) {
        guard let key = keys.first(where: { $0.path == path }) else {
            throw isSection(path)
                ? Mismatch(at: path, expected: "a table, [\(path.dotted)]", found: node) : .unknownKey(path)
        }
        try key.read(node, &subject)
    }

    /// Returns whether known keys lie under a path.
    private func isSection(_ path: [String]) -> Bool {
        keys.contains { $0.path.count > path.count && $0.path.starts(with: path) }
    }

    /// Returns the message, for an unknown key with a guess. Only the problems that are kept get one: it takes time.
    private func describe(_ mismatch: Mismatch) -> String {
        mismatch.isUnknownKey ? "\(mismatch.message)\(hint(for: mismatch.path))" : mismatch.message
    }

    private func hint(for path: [String]) -> String {
        let name = path.dotted
        let known = keys.map(\.path.dotted)
        let sections = keys.map(\.path).filter { $0.count > 1 }.map { $0.dropLast().joined(separator: ".") }
        let meant =
            Suggestion.forMisplaced(name, among: known) ?? Suggestion.forUnknown(name, among: known + sections)
        return Suggestion.hint(
            meant, otherwise: "known here: \(entries(beside: path).joined(separator: ", "))")
    }

    /// Returns the keys and tables that the table around a path can hold.
    private func entries(beside path: [String]) -> [String] {
        var table = path.dropLast()
        while !isSection(Array(table)) { table.removeLast() }
        var names: [String] = []
        for key in keys.map(\.path) where key.starts(with: table) {
            let entry = Array(key.prefix(table.count + 1))
            let name = entry == key ? entry.dotted : "[\(entry.dotted)]"
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// Keys below one heading of a manual page.
struct KeySection<Subject>: Sendable {
    let title: String
    let keys: [Key<Subject>]

    init(_ title: String, _ keys: [Key<Subject>]) {
        self.title = title
        self.keys = keys
    }
}

/// One key: its place in the file, what its value must be, where the value goes, and what it means.
package struct Key<Subject>: Sendable {
    package let path: [String]
    /// True if a desktop entry can have the key, too. For the others, the entry has keys of its own, or must not set them: the user, and
    /// the rights over other apps.
    let isInEntries: Bool
    /// The entry in the manual page: sentences with `code`, "values" and pages(5).
    let manual: String
    let read: @Sendable (TOMLNode, inout Subject) throws(Mismatch) -> Void
    /// Returns the value as it stands in a file; nil if the key is absent.
    let write: @Sendable (Subject) -> String?

    /// A key whose value is always there, because it has a default.
    package init<Value: TOMLValue>(
        _ name: String, _ kind: Kind<Value>, _ field: any WritableKeyPath<Subject, Value> & Sendable,
        inEntries isInEntries: Bool = false, _ manual: String
    ) {
        self.init(name, kind, isInEntries, manual) {
            $0[keyPath: field] = $1
        } write: {
            $0[keyPath: field].toml
        }
    }

    /// A key that may be absent.
    package init<Value: TOMLValue>(
        _ name: String, _ kind: Kind<Value>, _ field: any WritableKeyPath<Subject, Value?> & Sendable,
        inEntries isInEntries: Bool = false, _ manual: String
    ) {
        self.init(name, kind, isInEntries, manual) {
            $0[keyPath: field] = $1
        } write: {
            $0[keyPath: field]?.toml
        }
    }

    /// A key that is only read.
    init<Value>(_ name: String, _ kind: Kind<Value>, _ field: any WritableKeyPath<Subject, Value> & Sendable) {
        self.init(name, kind) { $0[keyPath: field] = $1 }
    }

    /// A key that is only read, and may be absent.
    init<Value>(_ name: String, _ kind: Kind<Value>, _ field: any WritableKeyPath<Subject, Value?> & Sendable) {
        self.init(name, kind) { $0[keyPath: field] = $1 }
    }

    /// A key of one of several tables that are alike.
    init<Table, Value>(
        _ name: String,
        _ kind: Kind<Value>,
        _ table: any WritableKeyPath<Subject, Table> & Sendable,
        _ field: any WritableKeyPath<Table, Value> & Sendable
    ) {
        self.init(name, kind) { $0[keyPath: table][keyPath: field] = $1 }
    }

    private init<Value>(
        _ name: String, _ kind: Kind<Value>, _ isInEntries: Bool = false, _ manual: String = "",
        store: @escaping @Sendable (inout Subject, Value) -> Void,
        write: @escaping @Sendable (Subject) -> String? = { _ in nil }
    ) {
        let path = name.split(separator: ".").map(String.init)
        self.path = path
        self.isInEntries = isInEntries
        self.manual = manual
        self.write = write
        read = { node, subject throws(Mismatch) in
            do throws(Mismatch) {
                store(&subject, try kind.read(node))
            } catch {
                throw error.under(path)
            }
        }
    }

    /// Returns the key of something that has a subject as a part.
    package func within<Whole>(_ part: any WritableKeyPath<Whole, Subject> & Sendable) -> Key<Whole> {
        Key<Whole>(self, part)
    }

    private init<Part>(_ key: Key<Part>, _ part: any WritableKeyPath<Subject, Part> & Sendable) {
        (path, isInEntries, manual) = (key.path, key.isInEntries, key.manual)
        read = { node, whole throws(Mismatch) in try key.read(node, &whole[keyPath: part]) }
        write = { key.write($0[keyPath: part]) }
    }
}

/// A value that is not what its key needs.
package struct Mismatch: Error {
    /// The key, or the part of its value, that the message is about.
    private(set) var path: [String]

    /// A Boolean value that indicates whether the key is unknown, so that a guess can be made.
    private(set) var isUnknownKey = false

    /// The cause: the whole message if no other value was expected.
    private let cause: String
    private var expected: String?

    /// Creates a mismatch with a complete message.
    init(at path: [String] = [], message: String) {
        self.path = path
        cause = message
    }

    /// Creates a mismatch between the expected value and the one in the file.
    init(at path: [String] = [], expected: String, found: TOMLNode, detail: String = "") {
        self.path = path
        self.expected = expected
        cause = "found \(found.summary)\(detail)"
    }

    static func unknownKey(_ path: [String]) -> Mismatch {
        var mismatch = Mismatch(at: path, message: "cannot use \(path.dotted.quoted): unknown key")
        mismatch.isUnknownKey = true
        return mismatch
    }

    var message: String {
        guard let expected else { return cause }
        return "cannot use \(path.dotted.unquotedIfPlain): \(cause); expected \(expected)"
    }

    /// Returns the same, where `other` is expected as well.
    func allowing(_ other: String) -> Mismatch {
        var copy = self
        copy.expected = expected.map { "\(other) or \($0)" }
        return copy
    }

    /// Returns the same, of a key that is called otherwise where the value is from.
    func named(_ name: String) -> Mismatch {
        var copy = self
        copy.path = [name]
        return copy
    }

    /// Returns the same, seen from the table around it.
    func under(_ prefix: [String]) -> Mismatch {
        var copy = self
        copy.path = prefix + path
        return copy
    }
}

extension [String] {
    /// The path as it is written in a file, with the numbers of elements in brackets.
    var dotted: String {
        reduce("") { $0.isEmpty || $1.hasPrefix("[") ? $0 + $1 : "\($0).\($1)" }
    }
}

extension String {
    /// Keys come from the file, so they are no safer to print than values are.
    fileprivate var unquotedIfPlain: String {
        utf8.count <= 60 && unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F }
            ? self : quoted
    }
}

/// The keys of the tables in an array, such as `[[adopt]]`, and how each gets its value into a `Draft`.
struct TableKeys<Draft>: Sendable {
    /// The name of the array.
    let name: String
    let keys: [Key<Draft>]

    init(of name: String, _ keys: [Key<Draft>]) {
        self.name = name
        self.keys = keys
    }

    /// Sets the values of a table.
    func read(_ table: [String: TOMLNode], into draft: inout Draft) throws(Mismatch) {
        for (name, node) in table.sorted(by: { $0.key < $1.key }) {
            guard let key = keys.first(where: { $0.path == [name] }) else { throw unknownKey(name) }
            try key.read(node, &draft)
        }
    }

    private func unknownKey(_ key: String) -> Mismatch {
        let known = keys.map(\.path.dotted)
        let hint = Suggestion.hint(
            Suggestion.forUnknown(key, among: known), otherwise: "known here: \(known.joined(separator: ", "))")
        return Mismatch(at: [key], message: "cannot use \(key.quoted) in \(name): unknown key\(hint)")
    }

    /// Returns the mismatch of a table without a key that it must have.
    ///
    /// - Parameter example: Lines with the key.
    func missing(_ key: String, _ example: String) -> Mismatch {
        Mismatch(message: "cannot use \(name): \(key) is missing; add \(example)")
    }
}

extension Kind {
    /// Returns the kind of an array of tables, of which more than the limit are a program's mistake.
    static func tables<Element>(
        _ name: String, atMost limit: Int,
        _ read: @escaping @Sendable ([String: TOMLNode]) throws(Mismatch) -> Element
    ) -> Kind where Value == [Element] {
        Kind { node throws(Mismatch) in
            guard case .array(let elements) = node, elements.count <= limit else {
                throw Mismatch(expected: "up to \(limit) tables, each [[\(name)]]", found: node)
            }
            return try readEach(elements) { element throws(Mismatch) in
                guard case .table(let table) = element else {
                    throw Mismatch(expected: "a table, [[\(name)]]", found: element)
                }
                return try read(table)
            }
        }
    }

    /// Reads the elements of an array. The path of a mismatch begins with the number of its element.
    static func readEach<Element>(
        _ elements: [TOMLNode], _ read: (TOMLNode) throws(Mismatch) -> Element
    ) throws(Mismatch) -> [Element] where Value == [Element] {
        var values: [Element] = []
        for (index, element) in elements.enumerated() {
            do throws(Mismatch) {
                values.append(try read(element))
            } catch {
                throw error.under([TOMLDocument.element(index + 1)])
            }
        }
        return values
    }
}
