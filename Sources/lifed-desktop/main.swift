package import CommandLineTable
import ControlAPI
import Desktop
import Glibc

extension Verb {
    /// The options of lifed-desktop.
    static let desktop = Verb(
        name: "lifed-desktop", summary: "Tell lifed what is in use on the screen and in the loudspeakers.",
        details: """
            Brings the app whose window has the focus to the foreground, and keeps apps running that are visible or play \
            sound. Runs until it is interrupted (Ctrl-C), and waits for the compositor, the X server, the sound server and \
            lifed when they restart. Keeps to the daemon that answers first. Windows that belong to no app change nothing; \
            if no window has the focus, the home app comes to the foreground. The windows are those of the session: sway \
            if SWAYSOCK is set, or else the compositor at WAYLAND_DISPLAY, or else GNOME Shell with the extension \
            lifed@org.lifed, or else the X server at DISPLAY.
            """,
        example: "lifed-desktop --dry-run",
        parameters: [
            .flag(.dryRun, "Print what would be done, and change nothing."),
            .option(
                .source, "source",
                "The only source. i3 is followed as x11; sound reports the apps that play, and changes no focus. "
                    + "(default: windows and sound)",
                .cases(of: SourceChoice.self)),
            .flag(.system, "Call the system's daemon."),
            .flag(.user, "Call the user's own daemon."),
            .option(.socket, "path", "Call the daemon that listens at this path.", .files("a path")),
            .flag(.version, "Show the version."),
            .help,
        ],
        excluding: [[.system, .user, .socket]], groups: [.tools],
        statuses: [
            (EXIT_SUCCESS, "The reader of the output has gone."),
            (EX_USAGE, "The command line is wrong."),
            (EX_UNAVAILABLE, "None of the sources is there."),
            (EX_OSERR, "An operation of the system failed."),
            (EX_IOERR, "The result was not written."),
            (EX_PROTOCOL, "The daemon's answer was not understood."),
            (EX_NOPERM, "Not permitted to use the daemon."),
        ]
    ) { (arguments) throws(DesktopFailure) in
        guard !arguments.has(.version) else { return try Output.write(Version.current + "\n") }
        let choice: SocketPath.Choice = arguments.has(.system) ? .system : arguments.has(.user) ? .user : .automatic
        let result = MainActor.assumeIsolated { () -> Result<Void, DesktopFailure> in
            Result { () throws(DesktopFailure) in
                let agent = try Agent(
                    source: arguments.word(.source, of: SourceChoice.self),
                    daemon: arguments[.socket].map { .path($0) } ?? choice,
                    isDryRun: arguments.has(.dryRun))
                try agent.run()
            }
        }
        try result.get()
    }
}

extension DesktopFailure: VerbFailure {
    package func usage(of arguments: Arguments) -> UsageError {
        if status != EXIT_SUCCESS { Output.complain(message) }
        exit(status)
    }
}

// The end of a screen or of a reader is an error of a call, and not of the process.
signal(SIGPIPE, SIG_IGN)
// A parent may leave SIGCHLD ignored. Then the kernel keeps no status of a child (sigaction(2)).
signal(SIGCHLD, nil)
do throws(UsageError) {
    let text = try CommandLineParser.parse(Array(CommandLine.arguments.dropFirst()), of: .desktop).perform()
    if !text.isEmpty { try? Output.write(text) }
} catch {
    Output.complain("cannot read the command line: \(error.message)")
    exit(EX_USAGE)
}
