import Glibc

/// Decides which processes of a tree are asked to end before the others: the main process, which may need the others to save.
///
/// A program that only runs another one has nothing to save, and its end can be the end of the other one (`bwrap --die-with-parent`).
/// The program below such a wrapper takes its place. A wrapper is recognized by the file that it runs. env(1), nice(1) and the
/// `exec` of a shell leave no process of their own.
struct Wrappers {
    /// The programs that run another one in a sandbox, and end with it.
    private static let sandboxes: Set<String> = ["bwrap", "flatpak"]
    private static let shells: Set<String> = [
        "ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "sh", "yash", "zsh",
    ]
    /// More than any command has.
    private static let depthLimit = 32

    private let members: [ProcessStatus]
    private let signal: Signal

    /// - Parameters:
    ///   - members: The processes of the tree, of a look that was just taken.
    ///   - signal: The signal that asks them to end.
    init(_ members: [ProcessStatus], askedBy signal: Signal) {
        self.members = members.inOrderOfStart
        self.signal = signal
    }

    /// Returns the processes that are asked first, parents before their children; none if the main process is no member.
    func askedFirst(main: ProcessIdentity) -> [ProcessIdentity] {
        guard var process = members.first(where: { $0.identity == main }) else { return [] }
        var asked: [ProcessIdentity] = []
        for _ in 0..<Self.depthLimit {
            guard let wrapped = program(below: process) else { break }
            if wrapped.wrapperIsAsked { asked.append(process.identity) }
            process = wrapped.program
        }
        return asked + [process.identity]
    }

    /// Returns the program that a wrapper runs, and whether the wrapper is asked, too; nil if the process is no wrapper.
    private func program(below process: ProcessStatus) -> (program: ProcessStatus, wrapperIsAsked: Bool)? {
        let children = members.filter { $0.parent == process.pid }
        guard !children.isEmpty, let path = RunningProcess.executable(of: process.pid) else { return nil }
        let file = path.split(separator: "/").last.map(String.init) ?? path
        // Orphans of the sandbox are younger than its program.
        if Self.sandboxes.contains(file) { return (children[0], false) }
        guard Self.shells.contains(file), let shell = SignalDispositions(of: process.pid) else { return nil }
        // Of a pipeline, the first program counts. A shell that handles the signal does so when the program has ended.
        if let program = children.first(where: { !Self.isInBackground($0, of: shell) }) {
            return (program, shell.handles(signal))
        }
        // Without a program in the foreground, it handles the signal at once, and may need what it has started.
        return children.count == 1 && !shell.handles(signal) ? (children[0], false) : nil
    }

    /// Returns whether a shell does not wait for a command: without job control, it starts it with SIGINT and SIGQUIT ignored.
    private static func isInBackground(_ command: ProcessStatus, of shell: SignalDispositions) -> Bool {
        guard let command = SignalDispositions(of: command.pid) else { return false }
        return [SIGINT, SIGQUIT].map { Signal(rawValue: $0) }.contains { command.ignores($0) && !shell.ignores($0) }
    }
}
