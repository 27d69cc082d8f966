import ControlAPI
import LifecycleTypes
import Testing

@testable import lifectl

/// What sources say, and what is made of it.
@Suite struct SourceTests {
    // MARK: sway

    @Test func `messages come in any pieces`() throws {
        let first = SwayMessage(kind: .tree, payload: Array("{}".utf8))
        let second = SwayMessage(kind: .window, payload: [])
        #expect(first.bytes.count == SwayMessage.headerLength + 2)
        for size in 1...30 {
            var buffer = SwayBuffer()
            var found: [SwayMessage] = []
            var rest = (first.bytes + second.bytes)[...]
            while !rest.isEmpty {
                buffer.append(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
                while let message = try buffer.next() { found.append(message) }
            }
            #expect(found == [first, second])
        }
    }

    @Test(arguments: ["hello, world", "i3-ipd", "i3-ipc\u{7f}\u{7f}\u{7f}\u{7f}1234"])
    func `garbage ends the connection`(text: String) {
        var buffer = SwayBuffer()
        buffer.append(Array(text.utf8))
        #expect(throws: SwayBuffer.Garbage.self) { try buffer.next() }
    }

    static func tree(_ focused: [Int], workspace: Bool = false) -> String {
        func window(_ number: Int, visible: Bool) -> String {
            """
            {"id": \(number), "type": "con", "name": "w\(number)", "pid": \(100 + number), "visible": \(visible),
             "focused": \(focused.contains(number)), "focus": [], "nodes": [], "floating_nodes": []}
            """
        }
        return """
            {"id": 1000, "type": "root", "focused": false, "focus": [1001], "nodes": [
              {"id": 1001, "type": "output", "focused": false, "focus": [1003, 1002], "nodes": [
                {"id": 1002, "type": "workspace", "focused": false, "focus": [1], "floating_nodes": [],
                 "nodes": [\(window(1, visible: false))]},
                {"id": 1003, "type": "workspace", "focused": \(workspace), "focus": [3, 1004], "nodes": [
                  {"id": 1004, "type": "con", "focused": \(focused.contains(1004)), "focus": [2, 4],
                   "nodes": [\(window(4, visible: true)), \(window(2, visible: true))], "floating_nodes": []}],
                 "floating_nodes": [\(window(3, visible: true))]}
              ], "floating_nodes": []}]}
            """
    }

    func observe(_ tree: String) throws -> Observation {
        try #require(SwayNode(json: Array(tree.utf8))).observation
    }

    @Test func `the focused window and those on the screen are found in the tree`() throws {
        let seen = try observe(Self.tree([2]))
        #expect(seen.focusedItem == Item(number: 2, process: 102, title: "w2"))
        #expect(seen.uses[.visible]?.map(\.key.process) == [104, 102, 103])
    }

    @Test func `of a container the window counts that had the focus last`() throws {
        #expect(try observe(Self.tree([1004])).focusedItem?.key.number == 2)
        #expect(try observe(Self.tree([], workspace: true)).focusedItem?.key.number == 3)
    }

    @Test func `an empty workspace is nothing, and no focus at all is unknown`() throws {
        let empty = #"{"id": 1, "nodes": [{"id": 2, "type": "workspace", "focused": true, "nodes": []}]}"#
        #expect(try observe(empty).focus == .nothing)
        #expect(try observe(Self.tree([])).focus == .unknown)
    }

    @Test(arguments: ["", "[]", "{", #"{"nodes": 3}"#, #"{"pid": "one"}"#])
    func `what is no tree is none`(text: String) {
        #expect(SwayNode(json: Array(text.utf8)) == nil)
    }

    @Test func `a tree that never ends is none`() {
        let depth = 100_000
        let text = String(repeating: #"{"nodes":["#, count: depth) + String(repeating: "]}", count: depth)
        #expect(SwayNode(json: Array(text.utf8)) == nil)
    }

    @Test func `the socket is the one that is named, and else those that are there`() {
        #expect(SwaySocket.candidates(environment: ["SWAYSOCK": "/a"]) == ["/a"])
        #expect(SwaySocket.candidates(environment: [:]) == [])
        let none = SwaySocket.absence(environment: [:], tried: [])
        #expect(none.reason.contains("SWAYSOCK is not set"))
        #expect(SwaySocket.absence(environment: ["I3SOCK": "/i3"], tried: []).remedy.contains("lifectl follow x11"))
        let tried = SwaySocket.absence(environment: ["SWAYSOCK": "/a"], tried: ["/a"])
        #expect(tried.reason.contains("no program listens at /a"))
    }

    // MARK: X11

    @Test func `a line of an X server`() throws {
        let seen = try #require(Observation(x11: "12 12:345:1:a%20%C3%A4 13:0:0: 14:9:1:b"))
        #expect(seen.focusedItem == Item(number: 12, process: 345, title: "a ä"))
        #expect(seen.uses[.visible]?.map(\.key.number) == [12, 14])
        #expect(Observation(x11: "0")?.focus == .nothing)
        #expect(Observation(x11: "- 12:345:1:a")?.focus == .unknown)
        #expect(Observation(x11: "99 12:345:1:a")?.focus == .unknown)
    }

    @Test func `a process that is a client's word is not attested`() throws {
        let x11 = try #require(Observation(x11: "0 12:345?:1:a 13:346:1:b"))
        #expect(x11.items.map(\.key.process) == [345, 346])
        #expect(x11.items.map(\.key.isAttested) == [false, true])
        let sway = try ["xwayland", "xdg_shell"].map { shell in
            try observe(#"{"id": 1, "pid": 7, "visible": true, "focused": true, "shell": "\#(shell)", "nodes": []}"#)
        }
        #expect(sway.map { $0.focusedItem?.key.isAttested } == [false, true])
        let stream = #"[{"index": 1, "corked": false, "properties": {"application.process.id": "77"}}]"#
        let playing = Observation(playing: SinkInput.list(json: Array(stream.utf8)))
        #expect(playing.items.map(\.key.isAttested) == [false])
    }

    @Test(arguments: ["", "x", "1 2", "1 2:3:4", "1 2:?:1:a", "1 2:x:1:a", "-1"])
    func `anything else is not understood`(line: String) {
        #expect(Observation(x11: line) == nil)
    }

    // MARK: Sound

    @Test func `what is not corked plays`() {
        let text = """
            [{"index": 1, "corked": false, "properties": {"application.process.id": "77", "media.name": "song"}},
             {"index": 2, "corked": true, "properties": {"application.process.id": "78"}},
             {"index": 3, "corked": false, "properties": {}}]
            """
        let seen = Observation(playing: SinkInput.list(json: Array(text.utf8)))
        #expect(seen.uses[.playing]?.map(\.key.process) == [77, nil])
        #expect(seen.focus == .unknown)
        #expect(SinkInput.list(json: Array("nonsense".utf8)) == [])
    }

    /// The answers of pactl 16 and PipeWire 0.3.65, shortened.
    @Test func `of a stream that does not say whose it is its client says so`() {
        let inputs = """
            [{"index": 44, "client": "43", "corked": false, "properties": {"application.process.id": "7"}},
             {"index": 50, "client": "49", "corked": false, "properties": {"media.name": "z.wav"}},
             {"index": 51, "client": "52", "corked": false, "properties": {}},
             {"index": 53, "client": "n/a", "corked": false, "properties": {}}]
            """
        let clients = """
            [{"index": 43, "properties": {"pipewire.sec.pid": "1", "application.process.id": "8"}},
             {"index": 49, "properties": {"pipewire.sec.pid": "9"}},
             {"index": 52, "properties": {"client.api": "pipewire-pulse", "pipewire.sec.pid": "1"}}]
            """
        let seen = SinkInput.list(json: Array(inputs.utf8))
            .identified(by: SoundClient.list(json: Array(clients.utf8)))
        #expect(seen.map(\.process) == [7, 9, nil, nil])
        #expect(seen.identified(by: SoundClient.list(json: Array("[{}]".utf8))) == seen)
    }
}
