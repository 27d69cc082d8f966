import ControlAPI
import Glibc
import LifecycleTypes
import Systemd
import Varlink

/// A sound server that speaks PulseAudio's protocol, as PipeWire does, through pactl(1).
///
/// After a change the source requests the list of streams, once at a time, and the list of clients if a stream needs it.
final class SoundSource: Source {
    /// The time that the server may take for a list, in seconds.
    private static let patience = "5"

    /// A list that pactl is writing.
    private struct Listing {
        /// The streams whose clients the list has; nil for a list of streams.
        var streams: [SoundEntry]?
        let program: ChildProgram
        var text: [UInt8] = []
    }

    let name = "the sound server"
    private let loop: EventLoop
    private let events: ChildProgram
    private var hasChanged = true
    private var listing: Listing?

    init(on loop: EventLoop) throws(SourceLost) {
        self.loop = loop
        // pactl translates its output, and without UTF-8 it fails at some titles.
        unsafe setenv("LC_ALL", "C.UTF-8", 1)
        // Subscribed before the first list, so that no change is missed between them.
        events = try ChildProgram(["pactl", "subscribe"], loop: loop)
    }

    func read() throws(SourceLost) -> Observation? {
        try readEvents()
        let streams = try readList()
        if hasChanged, listing == nil {
            hasChanged = false
            listing = Listing(program: try list("sink-inputs"))
        }
        return streams.map { Observation(playing: $0) }
    }

    private func readEvents() throws(SourceLost) {
        guard let text = events.read() else {
            throw SourceLost(reason: "pactl ended with status \(events.finish())")
        }
        // Events of other kinds are many. A word that was cut in two counts as a change.
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        hasChanged =
            hasChanged
            || lines.contains { line in
                let words = line.split(separator: UInt8(ascii: " "))
                return !words.isEmpty && (words.count < 5 || words.contains { $0.elementsEqual("sink-input".utf8) })
            }
    }

    /// Returns the streams when the lists are complete.
    private func readList() throws(SourceLost) -> [SoundEntry]? {
        guard var listing else { return nil }
        guard let bytes = listing.program.read() else {
            self.listing = nil
            let status = listing.program.finish()
            if status == 124 { throw SourceLost(reason: "the sound server does not answer") }
            guard status == 0 else { throw SourceLost(reason: "pactl ended with status \(status)") }
            let entries = SoundEntry.list(json: listing.text)
            if let streams = listing.streams { return streams.identified(by: entries) }
            // A stream of PipeWire's own protocol does not have its process.
            guard entries.contains(where: { !$0.isCorked && $0.process == nil }) else { return entries }
            self.listing = Listing(streams: entries, program: try list("clients"))
            return nil
        }
        listing.text += bytes
        self.listing = listing
        return nil
    }

    private func list(_ what: String) throws(SourceLost) -> ChildProgram {
        // pactl waits without limit for a server that does not answer.
        try ChildProgram(["timeout", Self.patience, "pactl", "-f", "json", "list", what], loop: loop)
    }
}

/// A stream on its way to a speaker, or a program that is connected to the sound server, as pactl shows it.
struct SoundEntry: Equatable, JSONReadable {
    let index: Int64
    let isCorked: Bool
    /// The number of the client of a stream, as text; some streams have another text.
    let client: String?
    /// The process, by the word of the program.
    fileprivate(set) var process: Int64?
    /// The process of a client, by the word of PipeWire, which has it from the kernel. The clients of PulseAudio's protocol are
    /// connected to pipewire-pulse, which passes their own word on.
    private let attestedProcess: Int64?
    let title: String

    init(json: JSONValue) throws(JSONError) {
        index = try json.read("index")
        isCorked = try json.readIfPresent("corked") ?? false
        client = json["client"]?.string
        let properties: [String: String] = try json.read("properties")
        process = properties["application.process.id"].flatMap { Int64($0) }
        let isPassedOn = properties["client.api"] == "pipewire-pulse"
        attestedProcess = isPassedOn ? nil : properties["pipewire.sec.pid"].flatMap { Int64($0) }
        title = properties["media.name"] ?? ""
    }

    /// Returns the entries of a list; none if the list has another form.
    static func list(json: [UInt8]) -> [SoundEntry] { (try? [SoundEntry](json: JSONValue(parsing: json[...]))) ?? [] }

    fileprivate var clientProcess: Int64? { attestedProcess ?? process }
}

extension [SoundEntry] {
    /// Returns the streams, with the processes of their clients if they have none.
    func identified(by clients: [SoundEntry]) -> [SoundEntry] {
        map { stream in
            var stream = stream
            stream.process = stream.process ?? clients.first { String($0.index) == stream.client }?.clientProcess
            return stream
        }
    }
}

extension Observation {
    init(playing streams: [SoundEntry]) {
        self.init()
        uses[.playing] = streams.prefix(Self.limit).filter { !$0.isCorked }.map { stream in
            Item(number: stream.index, process: stream.process, isAttested: false, title: stream.title)
        }
    }
}
