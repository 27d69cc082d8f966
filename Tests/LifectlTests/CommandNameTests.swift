import ArgumentParser
import Testing

@testable import lifectl

/// A command without a name of its own is named after its type, and finding that out for all of them took longer than everything
/// else that `lifectl focus` does.
@Test func everyCommandSaysItsName() {
    var rest: [any ParsableCommand.Type] = [Lifectl.self]
    while let command = rest.popLast() {
        #expect(command.configuration.commandName != nil, "\(command)")
        rest += command.configuration.subcommands
    }
}
