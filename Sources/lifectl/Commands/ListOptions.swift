import ArgumentParser

/// The options of a command that lists what has an id.
struct ListOptions: ParsableArguments {
    @Flag(help: "Print the ids only, one a line.")
    var ids = false

    @OptionGroup var every: GlobalOptions

    func validate() throws {
        guard !(ids && every.json) else { throw ValidationError("--ids and --json exclude one another") }
    }

    /// Prints a reply, or the ids of what it lists.
    func show<Reply: Encodable>(
        _ reply: Reply, ids names: [String], whole: (Presentation) -> String
    ) throws {
        try every.show(reply) { present in
            ids ? names.map { "\(Text.printable($0))\n" }.joined() : whole(present)
        }
    }
}
