public import ArgumentParser
public import ControlAPI

/// The option of the commands that bring an app to the front.
struct WaitOption: ParsableArguments {
    @Option(
        name: .customLong("wait"),
        help: ArgumentHelp(
            "What to wait for: that the app is active, or that it has answered did-become-active. (default: active)",
            valueName: "goal"))
    var goal: WaitGoal?
}

extension WaitGoal: ExpressibleByArgument {}
