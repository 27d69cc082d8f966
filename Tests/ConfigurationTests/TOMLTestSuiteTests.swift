import Foundation
import Testing

@testable import Configuration

/// Holds the reader to the cases of toml-test.
@Suite struct TOMLTestSuiteTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "toml-test")

    /// The valid texts that are refused: no text of a configuration has a NUL.
    private static let refused: Set<String> = [
        "key/quoted-unicode.toml", "string/quoted-unicode.toml", "string/unicode-escape.toml",
    ]

    private static func files(_ kind: String) throws -> [(name: String, bytes: [UInt8])] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory.appending(path: kind).path)
        return try paths.filter { $0.hasSuffix(".toml") }.map { path in
            (path, Array(try Data(contentsOf: directory.appending(path: "\(kind)/\(path)"))))
        }
    }

    /// Returns the values of a text; nil for one that is no TOML.
    private static func read(_ bytes: [UInt8]) -> [String: TOMLNode]? {
        String(validating: bytes, as: UTF8.self).flatMap { try? TOMLDocument($0).root }
    }

    @Test func everyInvalidTextIsRefused() throws {
        let files = try Self.files("invalid")
        #expect(files.count > 300)
        for (name, bytes) in files { #expect(Self.read(bytes) == nil, "\(name)") }
    }

    @Test func everyValidTextHasItsValues() throws {
        let files = try Self.files("valid")
        #expect(files.count > 150)
        for (name, bytes) in files {
            let expected = Self.directory.appending(path: "valid/" + name.replacing(".toml", with: ".json"))
            let json = try JSONSerialization.jsonObject(with: Data(contentsOf: expected))
            let found = Self.read(bytes)
            if Self.refused.contains(name) {
                #expect(found == nil, "\(name)")
            } else {
                #expect(found.map { Self.isSame(.table($0), json) } == true, "\(name): \(String(describing: found))")
            }
        }
    }

    /// Returns whether a value is that of a case. Of a date or a time, only the type is known.
    private static func isSame(_ node: TOMLNode, _ expected: Any) -> Bool {
        if let array = expected as? [Any] {
            guard case .array(let elements) = node, elements.count == array.count else { return false }
            return zip(elements, array).allSatisfy { isSame($0, $1) }
        }
        guard let object = expected as? [String: Any] else { return false }
        guard let type = object["type"] as? String, let value = object["value"] as? String, object.count == 2 else {
            guard case .table(let table) = node, table.count == object.count else { return false }
            return table.allSatisfy { name, node in object[name].map { isSame(node, $0) } ?? false }
        }
        return isSame(node, type, value)
    }

    private static func isSame(_ node: TOMLNode, _ type: String, _ value: String) -> Bool {
        switch (type, node) {
        case ("string", .string(let text)): text == value
        case ("integer", .integer(let number)): String(number) == value
        case ("float", .float(let number)): number == Double(value) || number.isNaN && value.hasSuffix("nan")
        case ("bool", .boolean(let isTrue)): String(isTrue) == value
        case ("datetime", .moment), ("datetime-local", .moment), ("date-local", .moment), ("time-local", .moment): true
        default: false
        }
    }
}
