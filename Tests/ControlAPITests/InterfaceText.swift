/// A description in Varlink's interface definition language, as far as the tests need it.
struct InterfaceText {
    enum Kind: Equatable {
        case string, int, bool
        case named(String)
        indirect case array(Kind)
        indirect case map(Kind)
    }

    struct Field: Equatable {
        let name: String
        let kind: Kind
        let isNullable: Bool
    }

    private(set) var structures: [String: [Field]] = [:]
    private(set) var enumerations: [String: [String]] = [:]
    private(set) var methods: [String: (input: [Field], output: [Field])] = [:]
    private(set) var errors: [String: [Field]] = [:]

    private var tokens: ArraySlice<String>

    struct Unexpected: Error {
        let token: String?
    }

    init(_ text: String) throws {
        tokens = Self.tokens(text)[...]
        try expect("interface")
        _ = try next()
        while !tokens.isEmpty { try readMember() }
    }

    private mutating func readMember() throws {
        let keyword = try next()
        let name = try next()
        switch keyword {
        case "type" where tokens.dropFirst(2).first != ":": enumerations[name] = try readNames()
        case "type": structures[name] = try readFields()
        case "error": errors[name] = try readFields()
        case "method":
            let input = try readFields()
            try expect("->")
            methods[name] = (input, try readFields())
        default: throw Unexpected(token: keyword)
        }
    }

    private mutating func readNames() throws -> [String] {
        try readList { text throws in try text.next() }
    }

    private mutating func readFields() throws -> [Field] {
        try readList { text throws in
            let name = try text.next()
            try text.expect(":")
            let isNullable = text.take("?")
            return Field(name: name, kind: try text.readKind(), isNullable: isNullable)
        }
    }

    private mutating func readList<Element>(_ read: (inout Self) throws -> Element) throws -> [Element] {
        try expect("(")
        var elements: [Element] = []
        while !take(")") {
            elements.append(try read(&self))
            _ = take(",")
        }
        return elements
    }

    private mutating func readKind() throws -> Kind {
        if take("[") {
            let isMap = take("string")
            try expect("]")
            let element = try readKind()
            return isMap ? .map(element) : .array(element)
        }
        switch try next() {
        case "string": return .string
        case "int": return .int
        case "bool": return .bool
        case let name: return .named(name)
        }
    }

    private mutating func next() throws -> String {
        guard let token = tokens.popFirst() else { throw Unexpected(token: nil) }
        return token
    }

    private mutating func expect(_ token: String) throws {
        guard take(token) else { throw Unexpected(token: tokens.first) }
    }

    private mutating func take(_ token: String) -> Bool {
        guard tokens.first == token else { return false }
        tokens.removeFirst()
        return true
    }

    private static func tokens(_ text: String) -> [String] {
        var tokens: [String] = []
        for line in text.split(separator: "\n") {
            let code = line.prefix { $0 != "#" }
            var word = ""
            for character in code.replacing("->", with: "→") {
                if character.isLetter || character.isNumber || character == "." {
                    word.append(character)
                    continue
                }
                if !word.isEmpty { tokens.append(word) }
                word = ""
                if !character.isWhitespace { tokens.append(character == "→" ? "->" : String(character)) }
            }
            if !word.isEmpty { tokens.append(word) }
        }
        return tokens
    }
}
