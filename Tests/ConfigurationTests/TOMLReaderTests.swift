import Testing

@testable import Configuration

@Suite struct TOMLReaderTests {
    @Test func aTextIsReadAgainAsItWas() throws {
        let reader = TOMLReader()
        for _ in 0..<2 {
            #expect(try reader.read("a = [1]") == ["a": .array([.integer(1)])])
            #expect(throws: TOMLDefect.self) { try reader.read("\na = 1979-13-01") }
        }
        #expect(reader.count == 2)
    }

    @Test func textNotReadAgainIsRemoved() throws {
        let reader = TOMLReader()
        _ = try reader.read("a = 1")
        _ = try reader.read("b = 1")
        reader.forgetUnread()
        #expect(reader.count == 2)
        _ = try reader.read("b = 1")
        reader.forgetUnread()
        #expect(reader.count == 1)
    }

    @Test func textsAreToldApartByTheirBytes() throws {
        let reader = TOMLReader()
        for accent in ["\u{E9}", "e\u{301}"] {
            guard case .string(let value) = try reader.read("a = '\(accent)'")["a"] else {
                Issue.record("no string")
                continue
            }
            #expect(Array(value.utf8) == Array(accent.utf8))
        }
        #expect(reader.count == 2)
    }

    @Test func aLoaderKeepsTheTextsThatThereAre() throws {
        let directory = try TemporaryDirectory()
        let loader = ConfigurationLoader(directories: [directory.path], instance: .system, searchPath: "/bin")
        try directory.write("frontLimit = 2", to: "lifed.toml")
        for arguments in ["one", "two", "three"] {
            try directory.write("command = ['sh', '\(arguments)']", to: "apps.d/app.toml")
            let configuration = loader.load()
            #expect(configuration.settings.frontLimit == 2)
            #expect(configuration.manifests.map(\.command) == [["sh", arguments]])
            // This one, and not the ones before.
            #expect(loader.toml.count == 2)
        }
    }
}
