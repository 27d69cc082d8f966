import Testing

@testable import lifectl

@Suite struct RemoteHostTests {
    @Test func `the words that name the machine are taken out, wherever they are`() throws {
        for words in [["--host", "kim@kitchen", "list", "--json"], ["list", "--host=kim@kitchen", "--json"]] {
            let host = try #require(try RemoteHost(arguments: words))
            #expect(host.destination == "kim@kitchen")
            #expect(host.arguments == ["list", "--json"])
            #expect(host.command == ["ssh", "--", "kim@kitchen", "'lifectl' 'list' '--json'"])
        }
    }

    @Test func argumentsAfterTwoHyphensBelongToTheCommand() throws {
        #expect(try RemoteHost(arguments: ["run", "--", "x", "--host", "y"]) == nil)
        #expect(throws: Failure.self) { try RemoteHost(arguments: ["list", "--host", "--", "x"]) }
    }

    @Test func secondMachineIsRefused() throws {
        for second in [["--host", "b"], ["--host=b"], ["--host"]] {
            let failure = #expect(throws: Failure.self) { try RemoteHost(arguments: ["--host", "a", "list"] + second) }
            #expect(
                failure?.message == "cannot read the command line: --host is given twice; name one machine")
            #expect(failure?.status == .usage)
        }
        let host = try RemoteHost(arguments: ["--host", "a", "run", "--", "x", "--host", "b"])
        #expect(host?.arguments == ["run", "--", "x", "--host", "b"])
    }

    @Test(arguments: ["", "-oProxyCommand=x", "-\u{301}x"])
    func destinationThatSSHWouldMisreadIsRefused(destination: String) {
        #expect(throws: Failure.self) { try RemoteHost(arguments: ["--host", destination, "list"]) }
        #expect(throws: Failure.self) { try RemoteHost(arguments: ["--host=\(destination)", "list"]) }
    }

    @Test func quoteInAWordDoesNotEndIt() {
        #expect(Escaping.shell("it's") == #"'it'\''s'"#)
        #expect(Escaping.shell("") == "''")
    }
}
