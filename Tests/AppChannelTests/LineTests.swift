import Testing

@testable import AppChannel

@Suite struct LineTests {
    @Test func `a line is a verb and fields`() throws {
        let line = try Line(parsing: bytes("begin-task id=1 name=two%20words%0A"))
        #expect(line.verb == "begin-task")
        #expect(line.fields == [Field("id", 1), Field("name", "two words\n")])
    }

    @Test(arguments: [
        "hello", "x", "a-1 b-2=", "v k=-._~/:,+@", "v k=%41%c3%a9%C3%A9", "v k=%25", "v a=1 b=1",
    ])
    func lineOfTheGrammarIsRead(text: String) throws {
        #expect(throws: Never.self) { try Line(parsing: bytes(text)) }
    }

    @Test(
        arguments: [
            ("", .empty), (" ", .malformedVerb), (" hello", .malformedVerb), ("Hello", .malformedVerb),
            ("1x", .malformedVerb), ("-x", .malformedVerb), ("he_llo", .malformedVerb), ("k=v", .malformedVerb),
            ("héllo", .malformedVerb), ("hello\t", .malformedVerb), ("hello\r", .malformedVerb),
            ("\u{0}", .malformedVerb),
            ("v ", .malformedField), ("v  k=v", .malformedField), ("v k=v ", .malformedField), ("v k", .malformedField),
            ("v =v", .malformedField), ("v K=v", .malformedField), ("v 1=v", .malformedField),
            ("v k v=1", .malformedField),
            ("v k=%", .malformedValue(key: "k")), ("v k=%4", .malformedValue(key: "k")),
            ("v k=%4g", .malformedValue(key: "k")), ("v k=%%41", .malformedValue(key: "k")),
            ("v k=% 41", .malformedValue(key: "k")), ("v k=a=b", .malformedValue(key: "k")),
            ("v k=é", .malformedValue(key: "k")), ("v k=a\u{0}", .malformedValue(key: "k")),
            ("v k=a\r", .malformedValue(key: "k")), ("v k=\"a\"", .malformedValue(key: "k")),
            ("v k=%00", .unusableText(key: "k")), ("v k=%ff", .unusableText(key: "k")),
            ("v k=%c3", .unusableText(key: "k")),
            ("v k=%ed%a0%80", .unusableText(key: "k")), ("v k=%c0%80", .unusableText(key: "k")),
            ("v k=1 k=1", .duplicateField(key: "k")), ("v k=1 j=2 k=3", .duplicateField(key: "k")),
        ] as [(String, LineError)])
    func lineOutsideTheGrammarHasAnError(text: String, error: LineError) {
        #expect(line(bytes(text)) == .failure(error))
    }

    @Test func `every byte means the same at every place`() {
        for byte in UInt8.min...UInt8.max {
            let isWord =
                byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            #expect(((try? Line(parsing: bytes("v") + [byte])) != nil) == isWord, "verb with byte \(byte)")
            let isValue = PercentCoding.isUnreserved(byte)
            #expect(((try? Line(parsing: bytes("v k=") + [byte])) != nil) == isValue, "value with byte \(byte)")
        }
    }

    @Test func valueOfEveryByteIsReadAsWritten() throws {
        for byte in UInt8(1)...0x7F {
            let sent = Line("v", [Field(key: "k", value: String(UnicodeScalar(byte)))])
            let encoded = try sent.encoded()
            #expect(encoded.last == UInt8(ascii: "\n") && !encoded.dropLast().contains(UInt8(ascii: "\n")))
            #expect(try Line(parsing: encoded.dropLast()) == sent)
        }
    }

    @Test func `values are compared as they were sent, not as they look`() throws {
        let composed = try Line(parsing: bytes("v k=%C3%A9"))
        #expect(Array(composed.fields[0].value.utf8) == [0xC3, 0xA9])
        let decomposed = try Line(parsing: bytes("v k=e%CC%81"))
        #expect(Array(decomposed.fields[0].value.utf8) == [0x65, 0xCC, 0x81])
    }

    @Test func `a line has at most 16384 bytes`() throws {
        let longest = bytes("v k=" + String(repeating: "a", count: 16383 - 4))
        #expect(try Line(parsing: longest).encoded().count == 16384)
        #expect(line(longest + [UInt8(ascii: "a")]) == .failure(.tooLong))
    }

    @Test func `a line has at most 32 fields`() throws {
        let fields = (0..<33).map { "k\($0)=\($0)" }
        #expect(try Line(parsing: bytes("v " + fields.prefix(32).joined(separator: " "))).fields.count == 32)
        #expect(line(bytes("v " + fields.joined(separator: " "))) == .failure(.tooManyFields))
    }

    @Test func messageThatDoesNotFitALineIsNotSent() {
        #expect(throws: LineError.tooLong) {
            try Line("v", [Field("k", String(repeating: "é", count: 2800))]).encoded()
        }
        #expect(throws: LineError.unusableText(key: "k")) { try Line("v", [Field("k", "a\u{0}b")]).encoded() }
        #expect(throws: LineError.tooManyFields) {
            try Line("v", (0..<33).map { Field(key: "k\($0)", value: "") }).encoded()
        }
    }

    @Test func `errors are clauses`() {
        let errors: [LineError] = [
            .tooLong, .tooManyFields, .malformedVerb, .malformedField, .malformedValue(key: "k"),
            .unusableText(key: "k"), .duplicateField(key: "k"), .missingField(key: "k"), .notANumber(key: "k"),
            .unknownValue(key: "k"), .unknownVerb("v"),
        ]
        for error in errors {
            #expect(error.description.first?.isLowercase == true && error.description.last != ".")
        }
        #expect("\(LineError.tooLong)".contains("\(AppProtocol.maximumLineLength)"))
        #expect("\(LineError.tooManyFields)".contains("\(AppProtocol.maximumFieldCount)"))
    }
}
