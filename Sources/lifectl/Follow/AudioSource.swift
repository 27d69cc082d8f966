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
            first = try Self.sinkInputs().get()
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
        return isAboutStreams ? Observation(playing: try Self.sinkInputs().get()) : nil
    }

    private static func sinkInputs() -> Result<[SinkInput], SourceLost> {
        do throws(ChildProcess.CannotStart) {
            // It waits for a server that does not answer as long as that lives.
            var list = try ChildProcess(["timeout", patience, "pactl", "-f", "json", "list", "sink-inputs"])
            var text: [UInt8] = []
            while let line = list.nextLine() { text += line + [UInt8(ascii: "\n")] }
            let (status, complaints) = list.finish()
            if status == 124 { return .failure(SourceLost(reason: "the sound server does not answer")) }
            if status == 0 { return .success(SinkInput.list(json: text)) }
            return .failure(SourceLost(reason: complaints.last ?? "pactl ended with status \(status)"))
        } catch {
            return .failure(SourceLost(reason: "pactl: \(Text.error(error.errno))"))
        }
    }
}

/// A stream of sound on its way to a speaker, as pactl shows it.
struct SinkInput: Decodable, Equatable {
    var index: UInt64
    var corked: Bool
    var properties: [String: String]

    /// Those in a list of pactl's; what cannot be understood counts as silence.
    static func list(json: [UInt8]) -> [SinkInput] {
        (try? JSONDecoder().decode([SinkInput].self, from: Data(json))) ?? []
    }
}

extension Observation {
    /// What plays. Where the focus is, sound cannot tell.
    init(playing: [SinkInput]) {
        self.init()
        uses[.playing] = playing.prefix(Self.limit).filter { !$0.corked }.map { input in
            Item(
                number: input.index, process: input.properties["application.process.id"].flatMap { Int64($0) },
                title: input.properties["media.name"] ?? "")
        }
    }
}
