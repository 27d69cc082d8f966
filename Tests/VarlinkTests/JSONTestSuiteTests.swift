import Foundation
import Testing

@testable import Varlink

/// Holds the parser to the cases of JSONTestSuite.
@Suite struct JSONTestSuiteTests {
    private static let directory =
        #filePath.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/JSONTestSuite"

    /// The cases that RFC 8259 leaves open and lifed accepts: numbers that only a reader of integers refuses.
    private static let accepted: Set<String> = [
        "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json", "i_number_neg_int_huge_exp.json",
        "i_number_pos_double_huge_exp.json", "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json",
        "i_number_very_big_negative_int.json",
    ]

    /// The cases that RFC 8259 leaves open and lifed refuses.
    private static let refused: [JSONError.Kind: Set<String>] = [
        .malformed: [
            // Halves of surrogate pairs.
            "i_object_key_lone_2nd_surrogate.json", "i_string_1st_surrogate_but_2nd_missing.json",
            "i_string_1st_valid_surrogate_2nd_invalid.json", "i_string_incomplete_surrogate_and_escape_valid.json",
            "i_string_incomplete_surrogate_pair.json", "i_string_incomplete_surrogates_escape_valid.json",
            "i_string_invalid_lonely_surrogate.json", "i_string_invalid_surrogate.json",
            "i_string_inverted_surrogates_U+1D11E.json", "i_string_lone_second_surrogate.json",
            // Bytes that are not UTF-8.
            "i_string_UTF-8_invalid_sequence.json", "i_string_UTF8_surrogate_U+D800.json",
            "i_string_invalid_utf-8.json", "i_string_iso_latin_1.json", "i_string_lone_utf8_continuation_byte.json",
            "i_string_not_in_unicode_range.json", "i_string_overlong_sequence_2_bytes.json",
            "i_string_overlong_sequence_6_bytes.json", "i_string_overlong_sequence_6_bytes_null.json",
            "i_string_truncated-utf-8.json",
            // Other encodings than UTF-8, and a byte order mark.
            "i_string_UTF-16LE_with_BOM.json", "i_string_utf16BE_no_BOM.json", "i_string_utf16LE_no_BOM.json",
            "i_structure_UTF-8_BOM_empty_object.json",
            // Valid by the grammar, and refused: of two values of one name no reader knows which one counts.
            "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
        ],
        .tooDeep: ["i_structure_500_nested_arrays.json"],
    ]

    private static func files() throws -> [(name: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".json") }.map { name in
            (name, Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)"))))
        }
    }

    @Test func everyCaseIsDecidedAsListed() throws {
        let files = try Self.files()
        #expect(files.count == 318)
        for (name, bytes) in files {
            let error = jsonError(bytes)
            let listed = Self.refused.first { $0.value.contains(name) }?.key
            if let listed {
                #expect(error?.kind == listed, "\(name)")
            } else {
                #expect((error == nil) == (name.hasPrefix("y_") || Self.accepted.contains(name)), "\(name)")
            }
        }
    }
}

/// Returns the error of a text; nil for a valid text.
func jsonError(_ bytes: [UInt8], depth: Int = 64) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONValue(parsing: bytes[...], depth: depth)
        return nil
    } catch {
        return error
    }
}
