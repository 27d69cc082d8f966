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

/// A stream of sound on its way to a speaker, as pactl shows it.
struct SinkInput: Decodable, Equatable {
    var index: UInt64
    var corked: Bool
    var properties: [String: String]

    /// Whose it is, by the number as a text; of some that is not a number.
    var client: String?

    /// The process that plays, by the stream's own word or its client's.
    var process: Int64? { properties[.process].flatMap { Int64($0) } }

    /// Those in a list of pactl's; what cannot be understood counts as silence.
    static func list(json: [UInt8]) -> [SinkInput] {
        (try? JSONDecoder().decode([SinkInput].self, from: Data(json))) ?? []
    }
}

/// A program that is connected to the sound server, as pactl shows it.
struct SoundClient: Decodable, Equatable {
    var index: UInt64
    var properties: [String: String]

    /// Its process as a text. PipeWire knows that from the kernel, but for those that speak PulseAudio's protocol: their
    /// connection is with pipewire-pulse, which passes on what they say.
    fileprivate var process: String? {
        let isPassedOn = properties["client.api"] == "pipewire-pulse"
        return (isPassedOn ? nil : properties["pipewire.sec.pid"]) ?? properties[.process]
    }

    /// Those in a list of pactl's; what cannot be understood counts as nobody.
    static func list(json: [UInt8]) -> [SoundClient] {
        (try? JSONDecoder().decode([SoundClient].self, from: Data(json))) ?? []
    }
}

extension [SinkInput] {
    /// The same, those that do not say whose they are with what their clients say.
    func identified(by clients: [SoundClient]) -> [SinkInput] {
        let processes = [String: String](
            clients.compactMap { client in client.process.map { (String(client.index), $0) } },
            uniquingKeysWith: { first, _ in first })
        return map { input in
            guard input.process == nil, let client = input.client, let process = processes[client] else { return input }
            var input = input
            input.properties[.process] = process
            return input
        }
    }
}

extension Observation {
    /// What plays. Where the focus is, sound cannot tell.
    init(playing: [SinkInput]) {
        self.init()
        uses[.playing] = playing.prefix(Self.limit).filter { !$0.corked }.map { input in
            Item(number: input.index, process: input.process, title: input.properties["media.name"] ?? "")
        }
    }
}

extension String {
    /// The property in which a program says what its process is.
    fileprivate static let process = "application.process.id"
}
