/// What the field codes of a command line stand for.
enum ExecCodes {
    /// What becomes of a word.
    enum Argument: Equatable {
        /// There is nothing for it to stand for.
        case nothing
        case single([ExecLine.Piece])
        case several([String])
    }

    /// An argument with its codes read.
    static func argument(_ word: [ExecWords.Unit], of subject: ExecLine.Subject) throws(ExecLine.Defect) -> Argument {
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

    /// A code that is a whole argument; nil for one that means the same within another.
    private static func lone(_ code: UInt8, of subject: ExecLine.Subject) throws(ExecLine.Defect) -> Argument? {
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

    /// A code within an argument, where there is room for one thing.
    private static func embedded(_ code: UInt8, of subject: ExecLine.Subject) throws(ExecLine.Defect) -> ExecLine.Piece
    {
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
