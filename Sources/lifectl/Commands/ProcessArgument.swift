import ArgumentParser

/// The number of a process.
struct ProcessArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The number of the process.", valueName: "pid"),
        completion: .shellCommand("ps -eo pid= 2>/dev/null"))
    var pid: Int64

    func validate() throws {
        guard pid > 0 else { throw ValidationError("the number of a process is 1 or more") }
    }
}
