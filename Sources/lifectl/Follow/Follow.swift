import ArgumentParser
import ControlAPI

struct Follow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Bring to the front what has the focus on the screen, and keep awake what is seen or heard.",
        discussion: """
            Goes on until it is ended (Ctrl-C), and waits for sway, the X server or the sound server, and for lifed, when one \
            of them is started again. Windows of what is no app are left alone; where nothing has the focus, the home app \
            comes. What sway is asked is found by SWAYSOCK or in XDG_RUNTIME_DIR, the X server by DISPLAY; i3 is followed \
            as x11. audio is about what plays, and changes no focus.

            Example: lifectl follow sway --dry-run
            """)

    enum Place: String, ExpressibleByArgument, CaseIterable {
        case sway, x11, audio
    }

    @Argument(help: ArgumentHelp("Whom to follow.", valueName: "source"))
    var place: Place

    @Flag(help: "Change nothing, and say what would be done.")
    var dryRun = false

    @OptionGroup var options: GlobalOptions

    func run() throws {
        var run =
            switch place {
            case .sway:
                FollowRun(options, place: place, name: "sway", isDryRun: dryRun) { () throws(Failure) in
                    try SwaySource.find(environment: Environment.current)
                }
            case .x11:
                FollowRun(options, place: place, name: "the X server", isDryRun: dryRun) { () throws(Failure) in
                    try X11Source()
                }
            case .audio:
                FollowRun(options, place: place, name: "the sound server", isDryRun: dryRun) { () throws(Failure) in
                    try AudioSource()
                }
            }
        try run.run()
    }
}
