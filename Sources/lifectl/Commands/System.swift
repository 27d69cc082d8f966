import CommandLineTable
import ControlAPI

extension VerbGroup {
    /// The verbs about the daemon itself.
    static let system = VerbGroup(
        title: "System",
        verbs: [
            Verb(
                name: "doctor",
                summary: "Look at everything that lifed needs, and say what is missing and what that costs.",
                details: """
                    The daemon and its socket, its configuration, control groups and controllers, memory pressure, the \
                    journal, the kernel, and the units. Exits with 1 when something does not work, and with 0 when lifed \
                    works, if only with less.
                    """,
                example: "lifectl doctor", run: Doctor.run),
            Verb(
                name: "reload", summary: "Read the configuration and the manifests again.",
                details: "Running apps stay as they are. Problems are printed.", example: "lifectl reload"
            ) { arguments in
                try arguments.options.show(.reload, doing: "cannot reload the configuration") {
                    $0.problems($1.problems)
                }
            },
            Verb(
                name: "reexec", summary: "Execute the daemon's program again in its process, as after an upgrade.",
                details: """
                    Apps stay as they are and remain the daemon's children. Only administrators may do it. If the program \
                    cannot be executed, the daemon goes on as it is.
                    """,
                example: "lifectl --system reexec"
            ) { arguments in
                try arguments.options.show(.reexecute, doing: "cannot execute the daemon again") { _, _ in "" }
            },
            Verb(
                name: "version", summary: "Print the version of lifectl and, if it answers, of the daemon.",
                example: "lifectl version"
            ) { arguments in
                // The version of the client is known without the daemon, whatever keeps the daemon from answering.
                let status = try? arguments.options.call(.getStatus, doing: "cannot ask the daemon").status
                let versions = Versions(client: Version.current, daemon: status?.version)
                try arguments.options.show(versions) { _ in
                    let daemon = versions.daemon.map(Text.printable) ?? "does not answer"
                    return "lifectl \(versions.client)\nlifed   \(daemon)\n"
                }
            },
            .help(
                summary: "Show what lifectl understands, or what one command does.", example: "lifectl help scene open"),
        ])
}
