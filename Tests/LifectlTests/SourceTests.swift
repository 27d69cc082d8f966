import ControlAPI
import LifecycleTypes
import Testing
import WindowLines

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
        try #require(JSON.decode(SwayNode.self, from: Array(tree.utf8))).observation
    }

    @Test func `the focused window and those on the screen are found in the tree`() throws {
        let seen = try observe(Self.tree([2]))
        #expect(seen.focusedItem == Item(number: 2, process: 102, title: "w2"))
        #expect(seen.uses[.visible]?.map(\.key.owner) == [.process(104), .process(102), .process(103)])
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
    func textWithoutATreeIsRefused(text: String) {
        #expect(JSON.decode(SwayNode.self, from: Array(text.utf8)) == nil)
    }

    @Test func `a tree that never ends is none`() {
        let depth = 100_000
        let text = String(repeating: #"{"nodes":["#, count: depth) + String(repeating: "]}", count: depth)
        #expect(JSON.decode(SwayNode.self, from: Array(text.utf8)) == nil)
    }

    @Test func socketOfTheEnvironmentIsTriedFirst() {
        #expect(SwaySocket.candidates(environment: ["SWAYSOCK": "/a"]) == ["/a"])
        #expect(SwaySocket.candidates(environment: [:]) == [])
        let none = SwaySocket.absence(environment: [:], tried: [])
        #expect(none.reason.contains("SWAYSOCK is not set"))
        #expect(SwaySocket.absence(environment: ["I3SOCK": "/i3"], tried: []).remedy.contains("lifectl follow x11"))
        let tried = SwaySocket.absence(environment: ["SWAYSOCK": "/a"], tried: ["/a"])
        #expect(tried.reason.contains("no program listens at /a"))
    }

    // MARK: Lines of windows

    func observe(line: String) throws -> Observation { Observation(try #require(WindowLine(line))) }

    @Test func `the focused window and the visible ones of a line count`() throws {
        let seen = try observe(line: "12 12:345::visible:a%20%C3%A4 13:0::minimized: 14:9::visible:b 15:9::covered:c")
        #expect(seen.focusedItem == Item(number: 12, process: 345, title: "a ä"))
        #expect(seen.uses[.visible]?.map(\.key.number) == [12, 14])
        #expect(try observe(line: "0").focus == .nothing)
        #expect(try observe(line: "- 12:345::visible:a").focus == .unknown)
        #expect(try observe(line: "99 12:345::visible:a").focus == .unknown)
    }

    @Test func `an app id counts if there is no process`() throws {
        let long = String(repeating: "a", count: 256)
        let seen = try observe(line: "0 1:0:mail:visible: 2:7:mail:visible: 3:0::visible: 4:0:\(long):visible:")
        #expect(seen.items.map(\.key.owner) == [.claimedApp("mail"), .process(7), .unknown, .unknown])
    }

    @Test func `the last words of a program are a cause and perhaps a remedy`() {
        #expect(SourceLost(complaint: "it is over") == SourceLost(reason: "it is over"))
        #expect(SourceLost(complaint: "a, b; do c; or d") == SourceLost(reason: "a, b", remedy: "do c; or d"))
        #expect(SourceLost(complaint: ";") == SourceLost(reason: "", remedy: ""))
    }

    @Test func pointerCountsIfTheSourceReportsIt() throws {
        let line = try #require(WindowLine("0 12:345::visible:a 13:346::covered:b:pointed"))
        #expect(Observation(line).uses[.pointed] == nil)
        let seen = Observation(line, tellsPointer: true)
        #expect(seen.uses[.pointed] == [Item(number: 13, process: 346, title: "b")])
        let none = try #require(WindowLine("0 12:345::visible:a"))
        #expect(Observation(none, tellsPointer: true).uses[.pointed] == [])
    }

    // MARK: The choice of a source

    @Test(
        arguments: [
            ([:], []),
            (["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":0"], [.sway, .wayland, .gnome]),
            (["SWAYSOCK": "", "WAYLAND_DISPLAY": "wayland-1"], [.wayland, .gnome]),
            (["WAYLAND_DISPLAY": "", "DISPLAY": ":0"], [.gnome, .x11]),
            // A compositor that has gone has left its name in the environment.
            (["WAYLAND_DISPLAY": "gone", "DISPLAY": ":0"], [.wayland, .gnome, .x11]),
            (["WAYLAND_DISPLAY": "/run/gone", "DISPLAY": ":0"], [.wayland, .gnome, .x11]),
        ] as [([String: String], [Follow.SourceKind])])
    func `the source is found by the environment, and Xwayland is none`(
        environment: [String: String], kinds: [Follow.SourceKind]
    ) {
        let all = environment.merging(["XDG_RUNTIME_DIR": "/run/user/7"]) { first, _ in first }
        let found = WindowSources.candidates(environment: all) { $0 == "/run/user/7/wayland-1" }
        #expect(found == kinds)
    }

    @Test func `no source at all is a failure with a remedy`() {
        let failure = #expect(throws: Failure.self) { try WindowSources.find(environment: [:]) }
        #expect(failure?.reason == "none of SWAYSOCK, WAYLAND_DISPLAY and DISPLAY is set")
    }

    @Test func `a process that is a client's word is not attested`() throws {
        let line = try observe(line: "0 12:345?::visible:a 13:346::visible:b")
        #expect(line.items.map(\.key.owner) == [.claimedProcess(345), .process(346)])
        let sway = try ["xwayland", "xdg_shell"].map { shell in
            try observe(#"{"id": 1, "pid": 7, "visible": true, "focused": true, "shell": "\#(shell)", "nodes": []}"#)
        }
        #expect(sway.map { $0.focusedItem?.key.owner } == [.claimedProcess(7), .process(7)])
        let stream = #"[{"index": 1, "corked": false, "properties": {"application.process.id": "77"}}]"#
        let playing = Observation(playing: SinkInput.list(json: Array(stream.utf8)))
        #expect(playing.items.map(\.key.owner) == [.claimedProcess(77)])
    }

    // MARK: Sound

    @Test func streamThatIsNotCorkedPlays() {
        let text = """
            [{"index": 1, "corked": false, "properties": {"application.process.id": "77", "media.name": "song"}},
             {"index": 2, "corked": true, "properties": {"application.process.id": "78"}},
             {"index": 3, "corked": false, "properties": {}}]
            """
        let seen = Observation(playing: SinkInput.list(json: Array(text.utf8)))
        #expect(seen.uses[.playing]?.map(\.key.owner) == [.claimedProcess(77), .unknown])
        #expect(seen.focus == .unknown)
        #expect(SinkInput.list(json: Array("nonsense".utf8)) == [])
    }

    /// The answers of pactl 16 and PipeWire 0.3.65, shortened.
    @Test func clientNamesTheProcessOfAStreamWithoutOne() {
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
