import Testing

@testable import Configuration

/// Mistakes in the keys that hold more than one value.
@Suite struct MistakeTests {
    @Test(arguments: [
        ("defaults = 'x'", #"1: defaults: expected a table of apps, { https = "org.example.browser" }, found "x""#),
        ("[defaults]\n'no scheme' = 'a'", #"2: defaults: "no scheme" is neither a URL scheme nor a media type"#),
        ("[defaults]\n'/plain' = 'a'", #"2: defaults: "/plain" is neither a URL scheme nor a media type"#),
        ("[defaults]\nhttps = 5", "2: defaults.https: expected the id of an app, found the integer 5"),
        ("[defaults]\n'text/*' = '-a'", #"2: defaults.text/*: expected the id of an app, found "-a""#),
    ])
    func `the settings' are explained`(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(text, to: "lifed.toml")
        let configuration = directory.load()
        #expect(directory.problems(configuration) == ["lifed.toml:\(problem)"])
        #expect(configuration.settings == Settings())
    }

    @Test(arguments: [
        (
            "schemes = 'http'",
            #"2: schemes: expected an array of URL schemes without the colon, such as ["http", "https"], found "http""#
        ),
        (
            "schemes = ['4chan']",
            """
            2: schemes: expected an array of URL schemes without the colon, such as ["http", "https"], found "4chan" \
            as element 1
            """
        ),
        (
            "mimeTypes = ['text/plain', 'text/-']",
            """
            2: mimeTypes: expected an array of media types, such as ["text/plain", "image/*"], found "text/-" as element 2
            """
        ),
        ("environment = 'A'", #"2: environment: expected a table of strings, { NAME = "value" }, found "A""#),
        (
            "environment = { 1A = 'x' }",
            """
            2: environment: "1A" cannot be a variable; a variable's name is letters, digits and _, and starts with no digit
            """
        ),
        ("schedule = ['daily']", #"2: schedule[1]: expected a table, [[schedule]], found "daily""#),
        (
            "[[schedule]]\nkind = 'a'\nat = 5",
            #"4: schedule[1].at: expected a calendar event, such as "daily" or "Mon..Fri 06:00", found the integer 5"#
        ),
        ("[[schedule]]\nkind = 'a'", #"2: schedule: at is missing; expected at = "daily""#),
        (
            "schedule = [{ kind = 'a', at = 'daily', deviation = 1 }]",
            #"2: schedule: unknown key "deviation"; known here: at, kind, jitter"#
        ),
    ])
    func `a manifest's are explained`(text: String, problem: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']\n\(text)", to: "apps.d/bad.toml")
        let configuration = directory.load()
        #expect(directory.problems(configuration) == ["apps.d/bad.toml:\(problem)"])
        #expect(configuration.manifests == [])
    }

    @Test func `a file in the place of the manifests' directory is one`() throws {
        let directory = try TemporaryDirectory()
        try directory.write("command = ['sh']", to: "apps.d")
        let configuration = directory.load()
        #expect(directory.problems(configuration) == ["apps.d: cannot be opened: Not a directory"])
        #expect(configuration.manifests == [])
    }
}
