/// A program or a verb of it: what it takes, what its help says, and the function that performs it.
package struct Verb: Sendable {
    enum Action: Sendable {
        case run(@Sendable (Arguments) throws(UsageError) -> Void)
        case print(@Sendable (Arguments) throws(UsageError) -> String)
    }

    package let name: String
    /// One line, in the imperative.
    package let summary: String
    let details: String
    package let example: String
    let action: Action
    // A command line needs the parameters of one verb only, so the table makes those of a verb when they are read.
    private let makeParameters: @Sendable () -> [Parameter]
    private let makeExclusions: @Sendable () -> [[Parameter.Name]]
    private let makeGroups: @Sendable () -> [VerbGroup]
    private let makeStatuses: @Sendable () -> [ExitStatus]

    init(
        name: String, summary: String, details: String = "", example: String = "",
        parameters: @autoclosure @escaping @Sendable () -> [Parameter] = [], action: Action
    ) {
        (self.name, self.summary, self.details, self.example) = (name, summary, details, example)
        (makeParameters, makeExclusions) = (parameters, { [] })
        (makeGroups, makeStatuses, self.action) = ({ [] }, { [] }, action)
    }

    /// Creates a program, or a verb of it.
    ///
    /// - Parameters:
    ///   - name: The word for it.
    ///   - summary: One line, in the imperative.
    ///   - details: The text of its help behind the summary; may be empty.
    ///   - example: A command line; may be empty.
    ///   - parameters: The arguments and options, which are made when they are read.
    ///   - excluding: The options of which one at most is given.
    ///   - groups: The verbs of which one follows; none for a last verb.
    ///   - statuses: The exit statuses, of a program.
    ///   - run: The function that performs the verb. Its error counts as a ``UsageError``, or ends the program.
    package init<Failure: VerbFailure>(
        name: String, summary: String, details: String = "", example: String = "",
        parameters: @autoclosure @escaping @Sendable () -> [Parameter] = [],
        excluding: @autoclosure @escaping @Sendable () -> [[Parameter.Name]] = [],
        groups: @autoclosure @escaping @Sendable () -> [VerbGroup] = [],
        statuses: @autoclosure @escaping @Sendable () -> [ExitStatus] = [],
        run: @escaping @Sendable (Arguments) throws(Failure) -> Void = { (_) throws(UsageError) in }
    ) {
        (self.name, self.summary, self.details, self.example) = (name, summary, details, example)
        (makeParameters, makeExclusions) = (parameters, excluding)
        (makeGroups, makeStatuses) = (groups, statuses)
        action = .run { arguments throws(UsageError) in
            do throws(Failure) {
                try run(arguments)
            } catch {
                throw error.usage(of: arguments)
            }
        }
    }

    /// The arguments and options. Those of the program may be given to each of its verbs, too.
    package var parameters: [Parameter] { makeParameters() }

    /// The options of which one at most is given.
    var excluding: [[Parameter.Name]] { makeExclusions() }

    /// The verbs of which one follows.
    package var groups: [VerbGroup] { makeGroups() }

    /// The exit statuses, of a program.
    var statuses: [ExitStatus] { makeStatuses() }

    package var verbs: [Verb] { groups.flatMap { $0.verbs } }

    /// The verbs that the help, the completions and the manual page show.
    package var shownVerbs: [Verb] { groups.filter { !$0.title.isEmpty }.flatMap { $0.verbs } }

    /// A Boolean value that indicates whether no verb follows.
    var isLast: Bool { !groups.contains { !$0.title.isEmpty } }

    /// The words behind `--`, of a verb that takes a command.
    var command: Parameter? { parameters.first { $0.kind == .command } }

    /// Returns the verb of a name that may follow.
    func verb(named name: String) -> Verb? {
        for group in groups {
            for verb in group.verbs where verb.name == name { return verb }
        }
        return nil
    }

    var shownParameters: [Parameter] { parameters.filter { !$0.isHidden } }
}

/// The error of a verb, which is a type of the program.
package protocol VerbFailure: Error {
    /// Returns the error if the command line makes no sense. Reports any other failure, and ends the program.
    func usage(of arguments: Arguments) -> UsageError
}

extension UsageError: VerbFailure {
    package func usage(of arguments: Arguments) -> UsageError { self }
}

/// Verbs that stand under one heading; hidden ones if it is empty.
package struct VerbGroup: Sendable {
    package let title: String
    private let makeVerbs: @Sendable () -> [Verb]

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - title: The heading; empty for hidden verbs.
    ///   - verbs: The verbs, which are made when they are read.
    package init(title: String, verbs: @autoclosure @escaping @Sendable () -> [Verb]) {
        (self.title, makeVerbs) = (title, verbs)
    }

    package var verbs: [Verb] { makeVerbs() }
}

/// An exit status of a program.
package struct ExitStatus: Sendable {
    let code: Int32
    let meaning: String

    /// Creates a status.
    ///
    /// - Parameters:
    ///   - code: The status of the process, from 0 to 255.
    ///   - meaning: The text for the help and the manual page.
    package init(_ code: Int32, _ meaning: String) { (self.code, self.meaning) = (code, meaning) }
}

// MARK: - What every program understands

extension Verb {
    /// The word behind `help` for the table of exit statuses.
    package static let exitCodes = "exit-codes"

    /// Returns the verb for `--help`.
    ///
    /// - Parameters:
    ///   - summary: One line, in the imperative; empty for a hidden verb.
    ///   - example: A command line; may be empty.
    /// - Returns: The verb `help`, whose arguments are the words of a verb.
    package static func help(summary: String = "", example: String = "") -> Verb {
        Verb(
            name: "help", summary: summary, example: example,
            parameters: [.argument(.verb, "The command.", isRequired: false, isRepeating: true)],
            action: .print { arguments throws(UsageError) in
                if arguments.all(.verb) == [exitCodes] { return Help.statuses(of: arguments.program) }
                var asked = Arguments(of: arguments.program)
                for word in arguments.all(.verb) { try asked.enter(word) }
                return Help.text(of: asked.path)
            })
    }

    /// Returns the verb for `--version`.
    ///
    /// - Parameters:
    ///   - version: The version to print.
    ///   - name: The name of the program.
    /// - Returns: The verb, which prints one line.
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
