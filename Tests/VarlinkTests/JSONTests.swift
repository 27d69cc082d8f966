import Foundation
import TestSupport
import Testing

@testable import Varlink

@Suite struct JSONParserTests {
    private func error<Value: JSONReadable>(_ text: String, as type: Value.Type) -> JSONError? {
        do throws(JSONError) {
            _ = try Value(json: JSONValue(parsing: text))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("1.0", 1), ("1e2", 100), ("1.50e+1", 15), ("100e-2", 1), ("-1.20E2", -120),
            ("0e99999999999999999999", 0),
            ("0.000e5", 0), ("0.001e3", 1), ("10.00", 10), ("9223372036854775807", .max),
            ("-9223372036854775808", .min),
            ("-9223372036854775.808e3", .min), ("9.223372036854775807e18", .max),
            ("90071992547409930e-1", 9_007_199_254_740_993),
        ] as [(String, Int64)])
    func integersAreExact(_ text: String, _ number: Int64) throws {
        #expect(try Int64(json: JSONValue(parsing: text)) == number)
    }

    @Test(
        arguments: [
            ("1.5", .wrongType(expected: .integer)), ("1e-1", .wrongType(expected: .integer)),
            ("1e-99999999999999999999", .wrongType(expected: .integer)), ("\"1\"", .wrongType(expected: .integer)),
            ("9223372036854775808", .outOfRange), ("-9223372036854775809", .outOfRange), ("1e19", .outOfRange),
            ("1e99999999999999999999", .outOfRange), ("10e9223372036854775807", .outOfRange),
            ("92233720368547758070", .outOfRange),
        ] as [(String, JSONError.Kind)])
    func numbersThatAreNo64BitIntegersAreErrors(_ text: String, _ kind: JSONError.Kind) {
        #expect(error(text, as: Int64.self)?.kind == kind)
    }

    @Test func valuesOfAllTypesAreRead() throws {
        let json = try JSONValue(
            parsing: #" { "a\u0062" : [ true , false , null , 7 , "x" ] , "skipped" : {"a":["}",1]} , "last" : -1 } "#)
        #expect(json["ab"] == .array([.bool(true), .bool(false), .null, .integer(7), .string("x")]))
        #expect(json["skipped"] == ["a": .array([.string("}"), .integer(1)])])
        #expect(try json.read("last") == Int64(-1))
        #expect(json.object?.map(\.name) == ["ab", "skipped", "last"])
    }

    @Test(arguments: [
        (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0000\u00e9\u20AC\uD834\udd1e""#, "\0é€𝄞"),
        (#""é𝄞""#, "é𝄞"),
    ])
    func escapeSequencesAreRead(_ text: String, _ expected: String) throws {
        #expect(try JSONValue(parsing: text) == .string(expected))
    }

    @Test(arguments: [
        (#"{"a":{"b":[0,"x"]}}"#, "a.b[1]"), (#"{"a":{"b":{}}}"#, "a.b"), (#"{"a":[]}"#, "a"),
        (#"{"x":{"b":[]},"a\u0062":{"é":["0"]}}"#, "ab.é[0]"), ("[]", ""),
    ])
    func errorsHaveTheirPath(_ text: String, _ path: String) {
        #expect(error(text, as: [String: [String: [Int64]]].self)?.path == path)
    }

    @Test func missingAndUnknownNamesHaveTheirPath() throws {
        let json = try JSONValue(parsing: #"{"b":1,"word":null}"#)
        #expect(throws: JSONError(.unknownField, path: "b")) { try json.refuseFields(otherThan: ["word"]) }
        #expect(throws: JSONError(.missingField, path: "c")) { try json.read("c") as Int64 }
        #expect(throws: JSONError(.missingField, path: "word")) { try json.read("word") as String }
        #expect(throws: JSONError(.wrongType(expected: .object))) { try JSONValue.null.readIfPresent("b") as String? }
    }

    @Test(arguments: [
        #"{"a":[1,2,]}"#, #"{"a":[1,"#, #"{"a":1,""#, #"{"a":{"b":1,"\u0062":2}}"#, #"{"":1,"b":"\x"}"#,
        #"{"\u00e9":1,"e\u0301":2}"#,
    ])
    func invalidTextsAreRefused(_ text: String) {
        #expect(jsonError(Array(text.utf8)) == JSONError(.malformed))
    }

    @Test(arguments: [2, 16, 17, 18, 100, 1000])
    func duplicatesAreFoundAmongManyNames(_ count: Int) {
        func object(_ names: [String]) -> [UInt8] {
            Array("{\(names.map { "\"\($0)\":1" }.joined(separator: ","))}".utf8)
        }
        let names = (1..<count).map { "name\($0)" }
        #expect(jsonError(object(names + ["name0"])) == nil)
        for duplicate in [names[0], names[names.count / 2], names[names.count - 1]] {
            #expect(jsonError(object(names + [duplicate]))?.kind == .malformed)
            #expect(jsonError(object(names + ["\\u006e" + duplicate.dropFirst()]))?.kind == .malformed)
        }
        #expect(jsonError(Array("[\(String(repeating: #"{"a":1},"#, count: count)){}]".utf8)) == nil)
    }

    @Test func depthIsLimitedExactly() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(jsonError(nested(64)) == nil)
        #expect(jsonError(nested(65))?.kind == .tooDeep)
        #expect(jsonError(nested(3), depth: 2)?.kind == .tooDeep)
        #expect(jsonError(nested(512), depth: 512) == nil)
    }
}

@Suite struct JSONWriterTests {
    @Test func valuesOfAllTypesAreWritten() {
        let json: JSONValue = [
            "text": "\"\\/\u{8}\u{c}\n\r\t\0\u{1f}é𝄞\u{7f}".json,
            "numbers": ([.min, -1, 0, 10, .max] as [Int64]).json,
            "optional": (nil as Bool?).json,
            "empty": [String: Bool]().json,
            "sorted": ["b": true, "a": false, "\"": true].json,
            "arrays": .array([.array([]), .array([[:], [:]]), .array([])]),
        ]
        let text = String(decoding: json.bytes, as: UTF8.self)
        #expect(
            text
                == #"{"text":"\"\\/\b\f\n\r\t\u0000\u001fé𝄞\#u{7f}","numbers":[-9223372036854775808,-1,0,10,"#
                + #"9223372036854775807],"optional":null,"empty":{},"sorted":{"\"":true,"a":false,"b":true},"#
                + #""arrays":[[],[{},{}],[]]}"#)
    }

    @Test func valuesAreKeptAsTheyWere() throws {
        let text = #"{"b":[null,true,-1.50e+3,"x"],"a":{}}"#
        let value = try JSONValue(parsing: text)
        #expect(value["b"] == .array([.null, .bool(true), .number("-1.50e+3"), .string("x")]))
        #expect(JSONValue.number("-1.50e+3").integer == -1500)
        #expect(JSONValue.string("x").string == "x" && JSONValue.bool(true).bool == true)
        #expect(value["c"] == nil)
        #expect(String(decoding: value.bytes, as: UTF8.self) == text)
    }
}

/// A value for Foundation's encoder and decoder.
private struct Mirrored: Codable {
    let value: JSONValue

    init(value: JSONValue) {
        self.value = value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            value = .null
        } else if let bool = try? container.decode(Bool.self) {
            value = .bool(bool)
        } else if let number = try? container.decode(Int64.self) {
            value = .integer(number)
        } else if let text = try? container.decode(String.self) {
            value = .string(text)
        } else if let elements = try? container.decode([Mirrored].self) {
            value = .array(elements.map(\.value))
        } else {
            let members = try container.decode([String: Mirrored].self)
            value = JSONValue.object(members.map { JSONValue.Member($0.key, $0.value.value) }).sorted
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch value {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number: try container.encode(value.integer)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements.map(Mirrored.init))
        case .object(let members):
            let pairs = members.map { ($0.name, Mirrored(value: $0.value)) }
            try container.encode([String: Mirrored](uniqueKeysWithValues: pairs))
        }
    }
}

extension JSONValue {
    /// The value with the members of its objects in an order that does not depend on the writer.
    fileprivate var sorted: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }
}

/// Compares the reader and the writer with Foundation's.
@Suite struct JSONOracleTests {
    private struct Random {
        var generator: SeededGenerator

        mutating func value(_ depth: Int) -> JSONValue {
            switch UInt8.random(in: 0..<(depth > 0 ? 7 : 5), using: &generator) {
            case 0: .null
            case 1: .bool(.random(using: &generator))
            // Foundation may read longer numbers inexactly.
            case 2: .integer(Int64(truncatingIfNeeded: generator.next()) >> UInt8.random(in: 0..<64, using: &generator))
            case 3, 4: .string(text())
            case 5: .array((0..<count()).map { _ in value(depth - 1) })
            default: .object(names().map { JSONValue.Member($0, value(depth - 1)) })
            }
        }

        private mutating func count() -> Int { .random(in: 0..<5, using: &generator) }

        private mutating func names() -> Set<String> { Set((0..<count()).map { _ in text() }) }

        mutating func text() -> String {
            let scalars: [Unicode.Scalar] = [
                "a", "\"", "\\", "/", "\0", "\n", "\u{1f}", "\u{7f}", "é", "€", "𝄞", "\u{ffff}",
            ]
            var text = String.UnicodeScalarView()
            for _ in 0..<count() { text.append(scalars[.random(in: 0..<scalars.count, using: &generator)]) }
            return String(text)
        }
    }

    @Test func bothReadTheOutputOfTheOther() throws {
        var random = Random(generator: SeededGenerator(seed: 25))
        for _ in 0..<500 {
            let value = random.value(4).sorted
            let text = value.bytes
            #expect(try JSONValue(parsing: text[...]) == value)
            #expect(try JSONDecoder().decode(Mirrored.self, from: Data(text)).value == value)
            let written = try JSONEncoder().encode(Mirrored(value: value))
            #expect(try JSONValue(parsing: Array(written)[...]).sorted == value)
        }
    }

    @Test func bothAcceptTheSameTexts() throws {
        var generator = SeededGenerator(seed: 8)
        let words = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"\\u00e9\"", "0", "-1.5", "01", "true", "nul", " ", "\n", "\"",
            "\\",
        ]
        for _ in 0..<4000 {
            let count = Int.random(in: 1..<8, using: &generator)
            let text = (0..<count).map { _ in words.randomElement(using: &generator)! }.joined()
            let isValid = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            let error = jsonError(Array(text.utf8))
            // Foundation takes one of several values of a name, and a comma at the end of an array.
            let names = text.components(separatedBy: "\"").count
            let isLax = names > 2 || text.filter { !$0.isWhitespace }.contains(",]")
            #expect((error == nil) == isValid || error != nil && isLax, "\(text)")
        }
    }
}
