import Testing

@testable import lifectl

@Suite struct RunEnvironmentTests {
    private let own = [
        "HOME": "/home/kim", "LC_TIME": "C", "XDG_RUNTIME_DIR": "/run/user/7", "AWS_SECRET_ACCESS_KEY": "s", "LC": "x",
        "HOMEPAGE": "x",
    ]

    @Test func secretsStayBehind() {
        let sent = RunEnvironment.variables(of: own, adding: [])
        #expect(sent == ["HOME": "/home/kim", "LC_TIME": "C", "XDG_RUNTIME_DIR": "/run/user/7"])
    }

    @Test func namedVariablesAreSentAndAssignmentsReplaceThem() {
        let sent = RunEnvironment.variables(
            of: own, adding: ["LC", "MISSING", "HOME=/", "A=b=c", "EMPTY=", "B=\u{301}"])
        #expect(
            sent == [
                "HOME": "/", "LC_TIME": "C", "XDG_RUNTIME_DIR": "/run/user/7", "LC": "x", "A": "b=c", "EMPTY": "",
                "B": "\u{301}",
            ])
    }
}
