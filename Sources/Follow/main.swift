// lifed-follow: writes the windows of a screen, line by line, for `lifectl follow`: see WindowLine.
//
// It is linked to the libraries of the screen. lifectl is linked to nothing and cannot use them.

import Glibc

/// Ends the program with a reason, which `lifectl follow` shows.
func fail(_ reason: String) -> Never {
    FollowLoop.complain(reason)
    exit(EXIT_FAILURE)
}

// Libwayland would write every message to standard error, where lifectl reads the reason of an end.
_ = unsafe unsetenv("WAYLAND_DEBUG")
// The end of a screen is an error of a call, and not of the process.
_ = signal(SIGPIPE, SIG_IGN)
do throws(SourceEnd) {
    let source: any WindowSource
    switch CommandLine.arguments.dropFirst().first {
    case "gnome": source = try GNOMESource()
    case "wayland": source = try WaylandSource()
    case "x11": source = try X11Source()
    default: fail("usage: lifed-follow gnome|wayland|x11")
    }
    var loop = FollowLoop(source)
    try loop.run()
} catch {
    fail(error.reason)
}
