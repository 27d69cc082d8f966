/// A program or a verb of it: what it takes, what its help says, and the function that performs it.
package struct Verb: Sendable {
    enum Action: Sendable {
        case run(@Sendable (Arguments) throws -> Void)
        case print(@Sendable (Arguments) throws -> String)
    }

    package let name: String
    /// One line, in the imperative.
    package let summary: String
    let details: String
    package let example: String
    /// The arguments and options. Those of the program may be given to each of its verbs, too.
    package let parameters: [Parameter]
    /// Options of which one at most is given.
    let excluding: [[Parameter.Name]]
    /// The verbs of which one follows.
    package let groups: [VerbGroup]
    /// The exit statuses, of a program.
    let statuses: [ExitStatus]
    let action: Action

    init(
        name: String, summary: String, details: String = "", example: String = "", parameters: [Parameter] = [],
        excluding: [[Parameter.Name]] = [], groups: [VerbGroup] = [], statuses: [ExitStatus] = [], action: Action
    ) {
        (self.name, self.summary, self.details, self.example) = (name, summary, details, example)
        (self.parameters, self.excluding, self.groups) = (parameters, excluding, groups)
        (self.statuses, self.action) = (statuses, action)
    }

    package init(
        name: String, summary: String, details: String = "", example: String = "", parameters: [Parameter] = [],
        excluding: [[Parameter.Name]] = [], groups: [VerbGroup] = [], statuses: [ExitStatus] = [],
        run: @escaping @Sendable (Arguments) throws -> Void = { _ in }
    ) {
        self.init(
            name: name, summary: summary, details: details, example: example, parameters: parameters,
            excluding: excluding, groups: groups, statuses: statuses, action: .run(run))
    }

    package var verbs: [Verb] { groups.flatMap { $0.verbs } }

    /// The verbs that the help, the completions and the manual page show.
    package var shownVerbs: [Verb] { groups.filter { !$0.title.isEmpty }.flatMap { $0.verbs } }

    var shownParameters: [Parameter] { parameters.filter { !$0.isHidden } }
}

/// Verbs that stand under one heading; hidden ones if it is empty.
package struct VerbGroup: Sendable {
    package let title: String
    package let verbs: [Verb]

    package init(title: String, verbs: [Verb]) { (self.title, self.verbs) = (title, verbs) }
}

/// An exit status of a program.
package struct ExitStatus: Sendable {
    let code: Int32
    let meaning: String

    package init(_ code: Int32, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }
}

// MARK: - What every program understands

extension Verb {
    /// The verb for `--help`, which a program with verbs may show as one of them.
    package static func help(summary: String = "", example: String = "") -> Verb {
        Verb(
            name: "help", summary: summary, example: example,
            parameters: [.argument(.verb, "The command.", isRequired: false, isRepeating: true)],
            action: .print { arguments in
                var asked = Arguments(of: arguments.program)
                for word in arguments.all(.verb) { try asked.enter(word) }
                return Help.text(of: asked.path)
            })
    }

    package static func version(_ version: String, of name: String) -> Verb {
        Verb(name: "--version", summary: "Print the version of \(name).", action: .print { _ in version + "\n" })
    }
}

extension VerbGroup {
    /// The verbs for the shells' completions and for scripts/manual.
    package static let tools = VerbGroup(
        title: "",
        verbs: [
            Verb(
                name: "--complete", summary: "Print the words for one place of a command line.",
                parameters: [.argument(.index, "The place."), .command("The command line.")],
                action: .print(Completion.text)),
            Verb(
                name: "--dump-table", summary: "Print the table of the program, for the manual page.",
                action: .print { TableDocument.text(of: $0.program) }),
        ])
}
