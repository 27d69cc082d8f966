import ControlAPI
import FoundationEssentials
import Glibc

/// A sound server that speaks PulseAudio's protocol, as PipeWire does, by way of pactl(1).
final class AudioSource: Source {
    private static let missing = "pactl tells what plays (Debian: pulseaudio-utils)"

    /// How long the server may take to say what plays, in seconds.
    private static let patience = "5"

    private let program: LineProgram
    private var first: [SinkInput]?

    init() throws(Failure) {
        let action = "cannot follow audio; \(Self.missing)"
        // Its words are the person's language otherwise, and without UTF-8 it stumbles over titles.
        unsafe setenv("LC_ALL", "C.UTF-8", 1)
        // Subscribed before the first look, so that nothing is missed between them.
        program = try LineProgram(["pactl", "subscribe"], doing: action)
        do throws(SourceLost) {
            first = try Self.sinkInputs()
        } catch {
            throw Failure(status: .unavailable, message: "\(action): \(error.reason)")
        }
    }

    var descriptor: CInt { program.descriptor }

    var isReady: Bool { first != nil || program.hasMore }

    func read() throws(SourceLost) -> Observation? {
        if let first {
            self.first = nil
            return Observation(playing: first)
        }
        var isAboutStreams = false
        repeat {
            guard let line = program.nextLine() else { throw SourceLost(reason: program.complaint) }
            isAboutStreams = isAboutStreams || line.contains(" on sink-input #")
        } while program.hasMore
        return isAboutStreams ? Observation(playing: try Self.sinkInputs()) : nil
    }

    /// A stream of a program that speaks PipeWire's own protocol does not say whose it is, but its client does.
    private static func sinkInputs() throws(SourceLost) -> [SinkInput] {
        let inputs = SinkInput.list(json: try list("sink-inputs"))
        guard inputs.contains(where: { !$0.corked && $0.process == nil }) else { return inputs }
        return inputs.identified(by: SoundClient.list(json: try list("clients")))
    }

    private static func list(_ what: String) throws(SourceLost) -> [UInt8] {
        var child: ChildProcess
        do throws(ChildProcess.CannotStart) {
            // It waits for a server that does not answer as long as that lives.
            child = try ChildProcess(["timeout", patience, "pactl", "-f", "json", "list", what])
        } catch {
            throw SourceLost(reason: "pactl: \(Text.error(error.errno))")
        }
        var text: [UInt8] = []
        while let line = child.nextLine() { text += line + [UInt8(ascii: "\n")] }
        let (status, complaints) = child.finish()
        if status == 124 { throw SourceLost(reason: "the sound server does not answer") }
        guard status == 0 else { throw SourceLost(reason: complaints.last ?? "pactl ended with status \(status)") }
        return text
    }
}
