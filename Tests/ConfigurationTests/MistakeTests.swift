import TestSupport
import Testing

@testable import Configuration

/// Mistakes in the keys of a manifest that hold more than one value.
@Suite struct MistakeTests {
    @Test(arguments: [
        (
            "schemes = 'http'",
            #"2: cannot use schemes: found "http"; expected an array of URL schemes without the colon, such as ["http", "https"]"#
        ),
        (
            "schemes = ['4chan']",
            """
            2: cannot use schemes: found "4chan" as element 1; expected an array of URL schemes without the colon, \
            such as ["http", "https"]
            """
        ),
        (
            "mimeTypes = ['text/plain', 'text/-']",
            """
            2: cannot use mimeTypes: found "text/-" as element 2; expected an array of media types, such as ["text/plain", "image/*"]
            """
        ),
        (
            "environment = 'A'",
            #"2: cannot use environment: found "A"; expected a table of strings, { NAME = "value" }"#
        ),
        (
            "environment = { 1A = 'x' }",
            """
            2: cannot use environment: "1A" cannot be a variable; a variable's name is letters, digits and _, and starts with no digit
            """
        ),
    ])
    func manifestMistakeIsReportedWithLineAndExpectation(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\n\(text)", to: "apps.d/bad.toml")
        let configuration = try directory.load()
        #expect(directory.problems(configuration) == ["apps.d/bad.toml:\(problem)"])
        #expect(configuration.manifests == [])
    }

    @Test func fileInPlaceOfManifestDirectoryIsReported() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']", to: "apps.d")
        let configuration = try directory.load()
        #expect(
            directory.problems(configuration) == ["apps.d: cannot open the directory: Not a directory; ignoring it"])
        #expect(configuration.manifests == [])
    }
}
