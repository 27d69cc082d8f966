/// The keys of the tables in an array, such as `[[schedule]]`, and how each gets its value into a `Draft`.
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
