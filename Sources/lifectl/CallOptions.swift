import ControlAPI

/// Which daemon is asked, how long it has, and in which form its answer is shown.
struct CallOptions: Equatable {
    var choice = SocketPath.Choice.automatic
    var isJSON = false
    /// The time that was asked for, if any was.
    var explicitTimeout: Duration?

    var timeout: Duration { explicitTimeout ?? .seconds(60) }

    /// Prints a reply: as JSON where that was asked for, and else as the text that is made of it.
    func show<Reply: Encodable>(_ reply: Reply, as text: (Presentation) -> String) throws {
        try StandardStream.output.write(isJSON ? JSON.line(reply) : text(.standardOutput))
    }
}
