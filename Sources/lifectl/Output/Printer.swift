import ControlAPI

extension GlobalOptions {
    /// Prints a reply: as JSON where that was asked for, and else as the text that is made of it.
    func show<Reply: Encodable>(_ reply: Reply, as text: (Presentation) -> String) throws {
        try StandardStream.output.write(json ? JSON.line(reply) : text(.standardOutput))
    }
}
