/// A program or a verb of it: what it takes, what its help says, and the function that performs it.
package struct Verb: Sendable {
    package let name: String
    /// One line, in the imperative.
    package let summary: String
    let details: String
    package let example: String
    /// Performs the verb. Returns the text of a verb that only prints one.
    let action: @Sendable (Arguments) throws(UsageError) -> String
    // A command line needs the parameters of one verb only, so the table makes those of a verb when they are read.
    /// The arguments and options. Those of the program may be given to each of its verbs, too.
    package let parameters: @Sendable () -> [Parameter]
    /// The options of which one at most is given.
    let excluding: @Sendable () -> [[Parameter.Name]]
    /// The verbs of which one follows.
    package let groups: @Sendable () -> [VerbGroup]
    /// The exit statuses, of a program.
    let statuses: @Sendable () -> [(code: Int32, meaning: String)]

    /// Creates a program, or a verb of it.
    ///
    /// - Parameters:
    ///   - name: The word for it.
    ///   - summary: One line, in the imperative.
    ///   - details: The text of its help after the summary; may be empty.
    ///   - example: A command line; may be empty.
    ///   - parameters: The arguments and options, which are made when they are read.
    ///   - excluding: The options of which one at most is given.
    ///   - groups: The verbs of which one follows; none for a last verb.
    ///   - statuses: The exit statuses, of a program.
    ///   - run: The function that performs the verb. Its error counts as a ``UsageError``, or ends the program.
    ///   - text: Returns the text to print, of a verb that does nothing else.
    package init<Failure: VerbFailure>(
        name: String, summary: String, details: String = "", example: String = "",
        parameters: @autoclosure @escaping @Sendable () -> [Parameter] = [],
        excluding: @autoclosure @escaping @Sendable () -> [[Parameter.Name]] = [],
        groups: @autoclosure @escaping @Sendable () -> [VerbGroup] = [],
        statuses: @autoclosure @escaping @Sendable () -> [(code: Int32, meaning: String)] = [],
        run: @escaping @Sendable (Arguments) throws(Failure) -> Void = { (_) throws(UsageError) in },
        text: @escaping @Sendable (Arguments) throws(UsageError) -> String = { (_) throws(UsageError) in "" }
    ) {
        (self.name, self.summary, self.details, self.example) = (name, summary, details, example)
        (self.parameters, self.excluding, self.groups, self.statuses) = (parameters, excluding, groups, statuses)
        action = { arguments throws(UsageError) in
            do throws(Failure) {
                try run(arguments)
            } catch {
                throw error.usage(of: arguments)
            }
            return try text(arguments)
        }
    }

    /// The groups that the help, the completions and the manual page show.
    var shownGroups: [VerbGroup] { groups().filter { !$0.title.isEmpty } }

    package var shownVerbs: [Verb] { shownGroups.flatMap { $0.verbs() } }

    /// A Boolean value that indicates whether no verb follows.
    var isLast: Bool { shownGroups.isEmpty }

    /// The words after `--`, of a verb that takes a command.
    var command: Parameter? { parameters().first { $0.kind == .command } }

    /// Returns the verb of a name that may follow.
    func verb(named name: String) -> Verb? { groups().lazy.flatMap { $0.verbs() }.first { $0.name == name } }

    var shownParameters: [Parameter] { parameters().filter { !$0.isHidden } }
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
    package let verbs: @Sendable () -> [Verb]

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - title: The heading; empty for hidden verbs.
    ///   - verbs: The verbs, which are made when they are read.
    package init(title: String, verbs: @autoclosure @escaping @Sendable () -> [Verb]) {
        (self.title, self.verbs) = (title, verbs)
    }
}

// MARK: - What every program understands

extension Verb {
    /// Returns the verb for `--help`.
    ///
    /// - Parameter example: A command line; may be empty.
    /// - Returns: The verb `help`, whose arguments are the words of a verb, or `exit-codes`.
    package static func help(example: String = "") -> Verb {
        Verb(
            name: "help", summary: "", example: example,
            parameters: [.argument(.verb, "The command.", isRequired: false, isRepeating: true)],
            text: { arguments throws(UsageError) in
                if arguments.all(.verb) == ["exit-codes"] { return Help.statuses(of: arguments.program) }
                var asked = Arguments(of: arguments.program)
                for word in arguments.all(.verb) { try asked.enter(word) }
                return Help.text(of: asked.path)
            })
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
                text: Completion.text),
            Verb(
                name: "--dump-table", summary: "Print the table of the program, for the manual page.",
                text: { TableDocument.text(of: $0.program) }),
        ])
}
