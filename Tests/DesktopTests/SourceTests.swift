import ControlAPI
import LifecycleTypes
import Systemd
import TestSupport
import Testing
import Varlink

@testable import Desktop

/// What sources say, and what is made of it.
@Suite struct SourceTests {
    // MARK: sway

    @Test func `messages come in any pieces`() throws {
        let first = SwayMessage(.tree, payload: Array("{}".utf8))
        let second = SwayMessage(.window, payload: [])
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

    static func node(_ text: String) -> SwayNode? {
        SwayMessage(.tree, payload: Array(text.utf8)).json.flatMap { try? SwayNode(json: $0) }
    }

    func observe(_ tree: String) throws -> Observation {
        try #require(Self.node(tree)).observation
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
        #expect(Self.node(text) == nil)
    }

    @Test func `a tree that never ends is none`() {
        let depth = 100_000
        let text = String(repeating: #"{"nodes":["#, count: depth) + String(repeating: "]}", count: depth)
        #expect(Self.node(text) == nil)
    }

    @Test func socketOfTheEnvironmentIsTriedFirst() throws {
        let directory = try TemporaryDirectory()
        let sockets = ["1", "2"].map { "\(directory.path)/sway-ipc.7.\($0).sock" }
        let kept = try sockets.reversed().map { try ListeningSocket(at: $0) }
        let variables = ["XDG_RUNTIME_DIR": directory.path]
        #expect(SwaySocket.candidates { variables[$0] } == sockets)
        #expect(SwaySocket.candidates { $0 == "SWAYSOCK" ? sockets[1] : variables[$0] } == sockets.reversed())
        #expect(SwaySocket.candidates { $0 == "SWAYSOCK" ? "/a" : nil } == ["/a"])
        #expect(SwaySocket.candidates { _ in nil } == [])
        withExtendedLifetime(kept) {}
    }

    // MARK: Windows

    @Test func `an app id counts if there is no process`() {
        let long = String(repeating: "a", count: 256)
        let windows: [(Int64?, String)] = [(0, "mail"), (7, "mail"), (nil, ""), (nil, long), (-1, "mail")]
        let owners = windows.map { Item(number: 1, process: $0, appID: $1, title: "").key.owner }
        #expect(owners == [.claimedApp("mail"), .process(7), .unknown, .unknown, .claimedApp("mail")])
    }

    @Test func longTitleIsCut() {
        #expect(
            Item(number: 1, process: 1, title: String(repeating: "x", count: 100_000)).title.count == Item.textLimit)
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
        ] as [([String: String], [SourceChoice])])
    func `the source is found by the environment, and Xwayland is none`(
        environment: [String: String], choices: [SourceChoice]
    ) {
        let all = environment.merging(["XDG_RUNTIME_DIR": "/run/user/7"]) { first, _ in first }
        let found = SourceChoice.screens(variable: { all[$0].flatMap { $0.isEmpty ? nil : $0 } }) {
            $0 == "/run/user/7/wayland-1"
        }
        #expect(found == choices)
    }

    @MainActor @Test func `no source at all is a failure with a remedy`() throws {
        var run = SourceRun("the windows") { [] }
        let message = run.advance(on: try EventLoop(), at: 0)
        #expect(
            message?.hasPrefix("cannot follow the windows: none of SWAYSOCK, WAYLAND_DISPLAY and DISPLAY is set; ")
                == true)
        #expect(run.absence?.message == message)
        #expect(run.deadline == 100_000)
    }

    @Test func `a process that is a client's word is not attested`() throws {
        let sway = try ["xwayland", "xdg_shell"].map { shell in
            try observe(#"{"id": 1, "pid": 7, "visible": true, "focused": true, "shell": "\#(shell)", "nodes": []}"#)
        }
        #expect(sway.map { $0.focusedItem?.key.owner } == [.claimedProcess(7), .process(7)])
        let stream = #"[{"index": 1, "corked": false, "properties": {"application.process.id": "77"}}]"#
        let playing = Observation(playing: SoundEntry.list(json: Array(stream.utf8)))
        #expect(playing.items.map(\.key.owner) == [.claimedProcess(77)])
    }

    // MARK: Sound

    @Test func streamThatIsNotCorkedPlays() {
        let text = """
            [{"index": 1, "corked": false, "properties": {"application.process.id": "77", "media.name": "song"}},
             {"index": 2, "corked": true, "properties": {"application.process.id": "78"}},
             {"index": 3, "corked": false, "properties": {}}]
            """
        let seen = Observation(playing: SoundEntry.list(json: Array(text.utf8)))
        #expect(seen.uses[.playing]?.map(\.key.owner) == [.claimedProcess(77), .unknown])
        #expect(seen.focus == .unknown)
        #expect(SoundEntry.list(json: Array("nonsense".utf8)) == [])
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
        let seen = SoundEntry.list(json: Array(inputs.utf8))
            .identified(by: SoundEntry.list(json: Array(clients.utf8)))
        #expect(seen.map(\.process) == [7, 9, nil, nil])
        #expect(seen.identified(by: SoundEntry.list(json: Array("[{}]".utf8))) == seen)
    }
}
