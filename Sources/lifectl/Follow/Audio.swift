import ControlAPI
import Glibc
import LifecycleTypes
import Varlink

/// A sound server that speaks PulseAudio's protocol, as PipeWire does, through pactl(1).
final class AudioSource: Source {
    private static let remedy = "install pactl (Debian: pulseaudio-utils), and start the sound server"

    /// The time that the server may take for a list, in seconds.
    private static let patience = "5"

    let name = "the sound server"
    private let program: LineProgram
    private var first: [SinkInput]?

    init() throws(Failure) {
        let action = "cannot follow audio"
        // pactl translates its output, and without UTF-8 it fails at some titles.
        unsafe setenv("LC_ALL", "C.UTF-8", 1)
        // Subscribed before the first list, so that no change is missed between them.
        program = try LineProgram(["pactl", "subscribe"], doing: action)
        do throws(SourceLost) {
            first = try Self.sinkInputs()
        } catch {
            throw Failure(.unavailable, action, error.reason, remedy: Self.remedy)
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
            isAboutStreams = isAboutStreams || line.split(separator: " ").contains("sink-input")
        } while program.hasMore
        return isAboutStreams ? Observation(playing: try Self.sinkInputs()) : nil
    }

    /// Adds the processes of clients: a stream of PipeWire's own protocol does not have its process.
    private static func sinkInputs() throws(SourceLost) -> [SinkInput] {
        let inputs = SinkInput.list(json: try list("sink-inputs"))
        guard inputs.contains(where: { !$0.corked && $0.process == nil }) else { return inputs }
        return inputs.identified(by: SoundClient.list(json: try list("clients")))
    }

    private static func list(_ what: String) throws(SourceLost) -> [UInt8] {
        let child: ChildProcess
        do throws(ChildProcess.CannotStart) {
            // pactl waits without limit for a server that does not answer.
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
struct SinkInput: Equatable, JSONReadable {
    var index: Int64
    var corked: Bool
    var properties: [String: String]

    /// The number of the client, as text; some streams have another text.
    var client: String?

    /// The process that plays.
    var process: Int64? { properties[.process].flatMap { Int64($0) } }

    /// Returns the streams in a list of pactl's; none if the list has another form.
    static func list(json: [UInt8]) -> [SinkInput] { JSON.decode([SinkInput].self, from: json) ?? [] }
}

/// A program that is connected to the sound server, as pactl shows it.
struct SoundClient: Equatable, JSONReadable {
    var index: Int64
    var properties: [String: String]

    /// The process, as text. PipeWire has it from the kernel; but the clients of PulseAudio's protocol are connected to
    /// pipewire-pulse, which passes their own word on.
    fileprivate var process: String? {
        let isPassedOn = properties["client.api"] == "pipewire-pulse"
        return (isPassedOn ? nil : properties["pipewire.sec.pid"]) ?? properties[.process]
    }

    /// Returns the clients in a list of pactl's; none if the list has another form.
    static func list(json: [UInt8]) -> [SoundClient] { JSON.decode([SoundClient].self, from: json) ?? [] }
}

extension [SinkInput] {
    /// Returns the streams, with the processes of their clients if they have none.
    func identified(by clients: [SoundClient]) -> [SinkInput] {
        let processes: [String: String] = clients.reversed().reduce(into: [:]) { processes, client in
            if let process = client.process { processes[String(client.index)] = process }
        }
        return map { input in
            guard input.process == nil, let client = input.client, let process = processes[client] else { return input }
            var input = input
            input.properties[.process] = process
            return input
        }
    }
}

extension Observation {
    init(playing: [SinkInput]) {
        self.init()
        uses[.playing] = playing.prefix(Self.limit).filter { !$0.corked }.map { input in
            Item(
                number: input.index, process: input.process, isAttested: false,
                title: input.properties["media.name"] ?? "")
        }
    }
}

extension String {
    /// The property with the process of a program, by its own word.
    fileprivate static let process = "application.process.id"
}

extension SinkInput {
    init(json: JSONValue) throws(JSONError) {
        index = try json.read("index")
        corked = try json.read("corked")
        properties = try json.read("properties")
        client = json["client"]?.string
    }
}

extension SoundClient {
    init(json: JSONValue) throws(JSONError) {
        index = try json.read("index")
        properties = try json.read("properties")
    }
}
