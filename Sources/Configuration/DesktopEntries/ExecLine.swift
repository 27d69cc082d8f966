/// The command of a desktop entry: Desktop Entry Specification 1.5, sections 7 and 8.
///
/// All codes but those for the files and URLs to open are known before the launch.
public struct ExecLine: Hashable, Sendable {
    /// The values of the codes about the entry itself.
    public struct Subject: Sendable {
        /// `%c`: the name of the app.
        public var name: String
        /// `%i`: the name of its icon, where it has one.
        public var icon: String?
        /// `%k`: where the entry is.
        public var file: String
    }

    /// A part of an argument.
    enum Piece: Hashable, Sendable {
        case text([UInt8])
        /// The path of a file that is opened.
        case file
        /// The URL that is opened.
        case url
    }

    /// The terminal command to which its command is appended; empty if it needs no terminal.
    var terminal: [String] = []
    let program: String
    private let arguments: [[Piece]]

    /// Reads the value of `Exec`.
    ///
    /// - Parameters:
    ///   - line: The value of `Exec`, in which the escapes of a string are resolved.
    ///   - subject: The values of the codes about the entry itself.
    /// - Throws: ``Defect`` if the line breaks the specification, or names its program neither by a name nor by an absolute path.
    public init(_ line: String, of subject: Subject) throws(Defect) {
        let words = try ExecWords(line).words
        guard let first = words.first else { throw .nothing }
        guard case .single(let pieces) = try ExecCodes.argument(first, of: subject), pieces.count == 1,
            case .text(let name)? = pieces.first, !name.isEmpty
        else { throw .noProgram }
        program = String(decoding: name, as: UTF8.self)
        guard program.utf8.first == UInt8(ascii: "/") || !program.utf8.contains(UInt8(ascii: "/")) else {
            throw .relativeProgram(program)
        }
        var arguments: [[Piece]] = []
        for word in words.dropFirst() {
            switch try ExecCodes.argument(word, of: subject) {
            case .nothing: continue
            case .single(let pieces): arguments.append(pieces)
            case .several(let texts): arguments += texts.map { [.text(Array($0.utf8))] }
            }
        }
        self.arguments = arguments
    }

    /// Creates the line of a command that is no desktop entry's.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - hasCodes: True if an argument `%u`, `%U`, `%f` or `%F` stands for what is opened.
    public init(_ command: [String], hasCodes: Bool) {
        program = command.first ?? ""
        arguments = command.dropFirst().map { argument in
            switch argument {
            case "%u" where hasCodes, "%U" where hasCodes: [.url]
            case "%f" where hasCodes, "%F" where hasCodes: [.file]
            default: [.text(Array(argument.utf8))]
            }
        }
    }

    /// True if it takes files or URLs to open.
    public var takesURLs: Bool {
        arguments.contains { argument in argument.contains { $0 == .file || $0 == .url } }
    }

    /// Returns the command. An argument that stands only for the URL to open is left out if there is none.
    ///
    /// - Parameters:
    ///   - url: The URL to open; nil for none.
    ///   - path: The path of the URL; nil if it is no file of this machine.
    /// - Returns: The program and its arguments, never empty.
    public func command(opening url: String? = nil, path: String? = nil) -> [String] {
        var command = terminal + [program]
        for argument in arguments {
            if url == nil, argument == [.file] || argument == [.url] { continue }
            var bytes: [UInt8] = []
            for piece in argument {
                switch piece {
                case .text(let text): bytes += text
                case .url: bytes += Array((url ?? "").utf8)
                case .file: bytes += Array((path ?? url ?? "").utf8)
                }
            }
            command.append(String(decoding: bytes, as: UTF8.self))
        }
        return command
    }
}

/// The reasons why a line is no command, to follow "Exec ".
extension Defect {
    static let nothing = Defect(message: "is empty; write the program and its arguments")
    static let noProgram = Defect(message: "does not begin with a program; name it first")
    static let loneBackslash = Defect(message: "ends in a backslash, which escapes nothing; remove it")
    static let quotedCode = Defect(
        message: "has a field code between quotation marks; write %% for a percent sign")

    static func openQuote(_ quote: String) -> Defect {
        Defect(message: "has a \(quote) without another one; close the quotation")
    }

    static func relativeProgram(_ program: String) -> Defect {
        Defect(message: "names \(program.quoted); expected an absolute path, or a name to look up in PATH")
    }

    static func unknownCode(_ code: String) -> Defect {
        Defect(message: "has the unknown field code \(code.quoted); write %% for a percent sign")
    }

    static func notAlone(_ code: Character) -> Defect {
        Defect(message: "has %\(code) within an argument; make it an argument of its own")
    }
}

/// A command line in words: Desktop Entry Specification 1.5, section 7, as far as quoting goes.
///
/// Where the specification is silent, a line means what a shell would make of its quotes, as other readers have it: quotes
/// within a word, single quotes, a backslash outside of quotes. Nothing is expanded, and no shell is involved.
struct ExecWords {
    /// A byte of a word, and whether it was quoted: in quotes, a percent sign begins no field code.
    struct Unit: Equatable {
        let byte: UInt8
        let isQuoted: Bool
    }

    private(set) var words: [[Unit]] = []
    private var rest: ArraySlice<UInt8>

    init(_ line: String) throws(Defect) {
        rest = Array(line.utf8)[...]
        while let first = rest.first {
            if Self.isSeparator(first) {
                rest.removeFirst()
            } else {
                words.append(try takeWord())
            }
        }
    }

    private static func isSeparator(_ byte: UInt8) -> Bool { byte.isBlank || byte == UInt8(ascii: "\n") }

    private mutating func takeWord() throws(Defect) -> [Unit] {
        var word: [Unit] = []
        while let byte = rest.first, !Self.isSeparator(byte) {
            rest.removeFirst()
            switch byte {
            case UInt8(ascii: "\""): word += try takeDoubleQuoted()
            case UInt8(ascii: "'"): word += try takeSingleQuoted()
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { throw .loneBackslash }
                word.append(Unit(byte: escaped, isQuoted: true))
            default: word.append(Unit(byte: byte, isQuoted: false))
            }
        }
        return word
    }

    /// Returns a backslash escapes those that mean something in quotes, and is itself before every other.
    private mutating func takeDoubleQuoted() throws(Defect) -> [Unit] {
        var units: [Unit] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return units }
            if byte == UInt8(ascii: "\\"), let escaped = rest.first, "\"`$\\".utf8.contains(escaped) {
                rest.removeFirst()
                units.append(Unit(byte: escaped, isQuoted: true))
            } else {
                units.append(Unit(byte: byte, isQuoted: true))
            }
        }
        throw .openQuote("\"")
    }

    private mutating func takeSingleQuoted() throws(Defect) -> [Unit] {
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { throw .openQuote("'") }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end].map { Unit(byte: $0, isQuoted: true) }
    }
}

/// The field codes of a command line.
enum ExecCodes {
    /// The meaning of a word.
    enum Argument: Equatable {
        /// There is nothing for it to stand for.
        case nothing
        case single([ExecLine.Piece])
        case several([String])
    }

    /// Returns an argument with its codes read.
    static func argument(_ word: [ExecWords.Unit], of subject: ExecLine.Subject) throws(Defect) -> Argument {
        // Many write "%f" where they should not; there is one thing only that it can mean.
        if word.count == 2, word[0].byte == percent, let alone = try lone(word[1].byte, of: subject) { return alone }
        var pieces: [ExecLine.Piece] = []
        var text: [UInt8] = []
        var isText = word.isEmpty
        var rest = word[...]
        while let unit = rest.popFirst() {
            guard unit.byte == percent else {
                text.append(unit.byte)
                continue
            }
            guard let code = rest.popFirst() else { throw .unknownCode("%") }
            guard code.byte == percent || !(unit.isQuoted || code.isQuoted) else { throw .quotedCode }
            switch try embedded(code.byte, of: subject) {
            case .text(let found):
                text += found
                isText = true
            case let piece:
                if !text.isEmpty { pieces.append(.text(text)) }
                text = []
                pieces.append(piece)
            }
        }
        if !text.isEmpty || (pieces.isEmpty && isText) { pieces.append(.text(text)) }
        return .single(pieces)
    }

    private static let percent = UInt8(ascii: "%")

    /// The codes that once were, and stand for nothing today.
    private static let deprecated = Array("dDnNvm".utf8)

    /// Returns a code that is a whole argument; nil for a code that means the same within another argument.
    private static func lone(_ code: UInt8, of subject: ExecLine.Subject) throws(Defect) -> Argument? {
        switch code {
        case UInt8(ascii: "f"), UInt8(ascii: "F"): .single([.file])
        case UInt8(ascii: "u"), UInt8(ascii: "U"): .single([.url])
        case UInt8(ascii: "i"): subject.icon.map { .several(["--icon", $0]) } ?? Argument.nothing
        case UInt8(ascii: "c"): .single([.text(Array(subject.name.utf8))])
        case UInt8(ascii: "k"): .single([.text(Array(subject.file.utf8))])
        case let code where deprecated.contains(code): Argument.nothing
        default: nil
        }
    }

    /// Returns a code within an argument, where there is room for one thing.
    private static func embedded(_ code: UInt8, of subject: ExecLine.Subject) throws(Defect) -> ExecLine.Piece {
        switch code {
        case percent: return .text([percent])
        case UInt8(ascii: "f"): return .file
        case UInt8(ascii: "u"): return .url
        case UInt8(ascii: "c"): return .text(Array(subject.name.utf8))
        case UInt8(ascii: "k"): return .text(Array(subject.file.utf8))
        case UInt8(ascii: "F"), UInt8(ascii: "U"), UInt8(ascii: "i"):
            throw .notAlone(Character(Unicode.Scalar(code)))
        case let code where deprecated.contains(code): return .text([])
        default: throw .unknownCode(String(decoding: [percent, code], as: UTF8.self))
        }
    }
}
