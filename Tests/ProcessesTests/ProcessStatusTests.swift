import Glibc
import Testing

@testable import Processes

@Suite struct ProcessStatusTests {
    private static let numbers =
        "12 34 56 0 -1 4194560 107 0 0 0 25 17 0 0 20 0 3 0 987654 2703360 303 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17"

    private func parse(_ text: String) -> ProcessStatus? {
        ProcessStatus(parsing: Array(text.utf8))
    }

    @Test func readsEveryFieldByItsPlace() throws {
        let status = try #require(parse("77 (sleep) S \(Self.numbers)\n"))
        #expect(status.pid == 77)
        #expect(status.name == "sleep")
        #expect(status.state == .sleeping)
        #expect(status.parent == 12)
        #expect(status.processGroup == 34)
        #expect(status.session == 56)
        #expect(status.processorTicks == 42)
        #expect(status.threadCount == 3)
        #expect(status.startTime == 987654)
    }

    @Test(arguments: ["", " ", ")", "((", ") T 1 1 1 (", "a b", "a\nb) R", "(a) S 1 2 3", "\u{301}"])
    func namesCanContainAnything(_ name: String) throws {
        let status = try #require(parse("7 (\(name)) T \(Self.numbers)"))
        #expect(status.name == name)
        #expect(status.state == .stopped)
        #expect(status.parent == 12)
    }

    @Test func nameThatIsNotUnicode() throws {
        let text = Array("7 (".utf8) + [0xFF, 0xFE, 0x29, 0x80] + Array(") R \(Self.numbers)".utf8)
        let status = try #require(ProcessStatus(parsing: text))
        #expect(status.state == .running)
    }

    @Test func anythingCutShortIsNothing() {
        let text = Array("77 (a) b) S \(Self.numbers)".utf8)
        for length in 0..<text.count {
            let status = ProcessStatus(parsing: Array(text[..<length]))
            #expect(status == nil || status?.startTime == 987654)
        }
    }

    @Test(arguments: [
        "", ")(", "(", "77 () S", "x (a) S 1", "77 (a) SS \(numbers)", "-99999999999 (a) S \(numbers)",
        "77 (a) S +12 34 56 0 -1 1 1 0 0 0 25 17 0 0 20 0 3 0 987654 1",
        "77 (a) S 12 34 56 0 -1 1 1 0 0 0 25 17 0 0 20 0 3 0 99999999999999999999999 1 ",
    ])
    func nonsenseIsNothing(_ text: String) {
        #expect(parse(text) == nil)
    }

    @Test func randomBytesDoNotCrash() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("()0123456789 STZ\n-\u{0}".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...200)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            _ = ProcessStatus(parsing: bytes)
        }
    }

    @Test func readsItself() throws {
        let status = try #require(try ProcessStatus(of: getpid()))
        #expect(status.pid == getpid())
        #expect(status.parent == getppid())
        #expect(status.session == getsid(0))
        #expect(!status.isZombie)
    }

    @Test func processesThatDoNotExistAreNothing() throws {
        #expect(try ProcessStatus(of: 0) == nil)
        #expect(try ProcessStatus(of: -1) == nil)
        #expect(try ProcessStatus(of: .max) == nil)
    }

    @Test func zombieWithLivingThreadsIsAlive() throws {
        let alone = Self.numbers.replacing(" 20 0 3 0 ", with: " 20 0 1 0 ")
        #expect(try #require(parse("7 (a) Z \(alone)")).isZombie)
        #expect(try #require(parse("7 (a) Z \(Self.numbers)")).isZombie == false)
    }
}

@Suite struct LaunchTokenTests {
    @Test func badTextsAreNone() {
        for text in [
            "", "a", "a-", "-1", "a-1-2", "a b-1", "A-1", "0a-1", "+a-1", "a-+1", "10000000000000000-1", "ä-1",
        ] {
            #expect(LaunchToken(rawValue: text) == nil, "\(text)")
        }
    }

    @Test func randomTokensAreUsableAndDifferent() {
        let tokens = (0..<100).map { _ in LaunchToken.random() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { LaunchToken(rawValue: $0.rawValue) == $0 })
    }
}

@Suite struct ProcessCommandLineTests {
    @Test func argumentsAreSeparatedByZeros() {
        #expect(ProcessInfo.parse(commandLine: Array("sh\0-c\0\0true x\0".utf8)) == ["sh", "-c", "", "true x"])
        #expect(ProcessInfo.parse(commandLine: Array("title: idle\0\0\0\0".utf8)) == ["title: idle"])
        #expect(ProcessInfo.parse(commandLine: [0, 0]).isEmpty)
        #expect(ProcessInfo.parse(commandLine: []).isEmpty)
    }
}

@Suite struct AncestryTests {
    @Test func `ancestry ends at this process and excludes it`() throws {
        let own = try #require(Ancestry(of: getpid()))
        #expect(own.processes.isEmpty && own.reachesThisProcess)
    }

    @Test func `a parent's parents do not go through this process`() throws {
        let parent = try #require(Ancestry(of: getppid()))
        #expect(!parent.reachesThisProcess)
        #expect(parent.processes.first == getppid() || getppid() == 1)
    }

    @Test func `init has no ancestors, and an unused number has none that are known`() {
        #expect(Ancestry(of: 1)?.processes == [])
        #expect(Ancestry(of: 1)?.reachesThisProcess == false)
        #expect(Ancestry(of: .max) == nil)
    }
}
