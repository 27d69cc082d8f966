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

@Suite struct TOMLScalarTests {
    @Test(arguments: [
        "0", "-0", "+17", "1_000", "0xDEAD_beef", "0o755", "0b1101", "3.14", "-0.01", "5e+22", "6.626e-34", "1E06",
        "inf",
        "-nan", "true", "false", "1979-05-27", "07:32:00", "07:32:00.999999", "1979-05-27T07:32:00",
        "1979-05-27 07:32:00Z",
        "1979-05-27t00:32:00.5-07:00",
    ])
    func values(text: String) {
        #expect(TOMLScalar.isWellFormed(text))
        #expect(throws: Never.self) { try TOMLDocument("key = \(text)") }
    }

    @Test(arguments: [
        "", "+", "-", ".", "_", "01", "-01", "1_", "_1", "1__0", "0x", "+0x1", "0xg", "0o8", "0b2", "1.", ".1", "1.e5",
        "1e", "1e5.0",
        "e5", "1.2.3", "True", "infinity", "0x1.8p1", "1979-5-27", "1979-05-27T", "1979-05-27T07:32", "07:32",
        "07:32:00.",
        "07:32:00Z", "1979-05-27 0", "1979-05-27T07:32:00+7", "1979-05-27T07:32:00Z1", "٣", "1979_05-27",
    ])
    func others(text: String) {
        #expect(!TOMLScalar.isWellFormed(text))
    }
}
