import ControlAPI
import FoundationEssentials

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
