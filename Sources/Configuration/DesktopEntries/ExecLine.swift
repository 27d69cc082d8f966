/// The command of a desktop entry: Desktop Entry Specification 1.5, sections 7 and 8.
///
/// What its codes stand for is known before it is started, but for what it is started to open.
public struct ExecLine: Hashable, Sendable {
    /// What the codes about the entry itself stand for.
    public struct Subject: Sendable {
        /// `%c`: what people call the app.
        public var name: String
        /// `%i`: the name of its icon, where it has one.
        public var icon: String?
        /// `%k`: where the entry is.
        public var file: String

        /// The app of an entry.
        public init(name: String, icon: String? = nil, file: String) {
            self.name = name
            self.icon = icon
            self.file = file
        }
    }

    /// A part of an argument.
    enum Piece: Hashable, Sendable {
        case text([UInt8])
        /// The path of a file that is opened.
        case file
        /// The URL that is opened.
        case url
    }

    /// What its command is appended to; empty where it needs no terminal.
    var terminal: [String] = []
    let program: String
    private let arguments: [[Piece]]

    /// Reads the value of `Exec`, in which the escapes of a string are resolved.
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

    /// Whether it is told what to open.
    public var takesURLs: Bool {
        arguments.contains { argument in argument.contains { $0 == .file || $0 == .url } }
    }

    /// The program and its arguments, never empty. An argument that is nothing but what is to be opened is left out where
    /// there is nothing.
    ///
    /// - Parameters:
    ///   - url: What is to be opened.
    ///   - path: The path of it, where it is a file of this machine.
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

extension ExecLine {
    /// Why a line is no command.
    public struct Defect: Error, Equatable {
        /// To follow "Exec: ".
        public let message: String

        static let nothing = Defect(message: "is empty")
        static let noProgram = Defect(message: "does not begin with a program")
        static let loneBackslash = Defect(message: "ends in a backslash, which escapes nothing")
        static let quotedCode = Defect(
            message: "has a field code between quotation marks, where none may be; %% is a percent sign")

        static func openQuote(_ quote: String) -> Defect { Defect(message: "has a \(quote) without another one") }

        static func relativeProgram(_ program: String) -> Defect {
            Defect(message: "expected an absolute path or a name to look up in PATH, found \(program.quoted)")
        }

        static func unknownCode(_ code: String) -> Defect {
            Defect(message: "\(code.quoted) is no field code; %% is a percent sign")
        }

        static func notAlone(_ code: Character) -> Defect {
            Defect(message: "%\(code) has to be an argument of its own")
        }
    }
}
