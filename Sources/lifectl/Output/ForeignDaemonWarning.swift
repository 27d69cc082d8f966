/// The warning that the daemon which was named belongs to another user.
enum ForeignDaemonWarning {
    // lifectl has one thread.
    nonisolated(unsafe) private static var isShown = false

    /// Writes the warning to standard error, once for each run of the program.
    static func show(path: String, user: UInt32?) {
        guard unsafe !isShown else { return }
        unsafe isShown = true
        let words = "\(path) belongs to \(Text.user(user)), whose daemon can read what you send"
        try? StandardStream.error.write("lifectl: warning: \(Text.printable(words))\n")
    }
}
