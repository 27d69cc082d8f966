import LifecycleTypes

@testable import AppChannel
@testable import LifecycleClient

extension FuzzTarget {
    /// What the daemon says, as an app reads it, between things that the app does: a byte says what, and a line follows.
    static let appSession = FuzzTarget("app-session") { bytes in
        var input = FuzzInput(bytes)
        let kind = input.number(below: 16)
        var app = FuzzedApp(hasChannel: kind % 8 > 0, usesScenes: kind >= 8)
        while !input.isEmpty { app.handle(&input) }
        let scenes = app.session.allScenes.map(\.id)
        require(Set(scenes).count == scenes.count, "a scene is there once")
    }
}

/// An app that does as the input says.
private struct FuzzedApp {
    var session: AppSession
    var tasks: [AssertionID] = []
    var callbacks: [CallbackMessage] = []
    var now: Int64 = 1

    init(hasChannel: Bool, usesScenes: Bool) {
        session = AppSession(hasChannel: hasChannel, canResume: true, usesScenes: usesScenes)
    }

    mutating func handle(_ input: inout FuzzInput) {
        let action = input.number(below: 32)
        switch action {
        case 1: tasks.append(session.beginTask(name: input.text()))
        case 2: tasks.append(session.beginActivity(mode: input.text()))
        case 3: if let id = tasks.popLast() { session.endTask(id) }
        case 4: if let id = tasks.first { session.endActivity(id) }
        case 5: if let callback = callbacks.popLast() { session.answer(callback, .handled(true)) }
        case 6: session.channelDidEnd()
        case 7: session.resume()
        case 8: sendEverything()
        case 9: session.requestTermination()
        case 11: openScene(&input)
        case 12: session.closeScene(scene)
        case 13: try? session.setSceneInfo(input.text(), of: scene)
        default: receive(input.bytesOfLine(), isWhole: action != 10)
        }
        drain()
    }

    /// A sequence number that the app knows, if there is any.
    private var scene: SceneID { session.allScenes.last?.id ?? .main }

    private mutating func openScene(_ input: inout FuzzInput) {
        let (name, role) = (input.text(), input.text())
        try? session.openScene(SceneID(name), role: role.isEmpty ? nil : role, info: input.text())
    }

    private mutating func receive(_ line: ArraySlice<UInt8>, isWhole: Bool) {
        compareWithEmbedded(lineToApp: line)
        if let message = try? MessageToApp(parsing: line) { checkRoundTrip(message) }
        session.receive(line, now: now)
        if isWhole { session.receive([UInt8(ascii: "\n")], now: now) }
        now += 1
    }

    private func checkRoundTrip(_ message: MessageToApp) {
        if case .unknownCallback = message { return }
        guard let encoded = try? message.encoded() else { return }
        require((try? MessageToApp(parsing: encoded.dropLast())) == message, "what was written is read again")
        guard case .callback(let callback) = message else { return }
        checkFields(LaunchFields(callback.fields), LaunchFields.init, \.fields)
        checkFields(OpenURLFields(callback.fields), OpenURLFields.init, \.fields)
        checkFields(ContinueActivityFields(callback.fields), ContinueActivityFields.init, \.fields)
        checkFields(PerformTaskFields(callback.fields), PerformTaskFields.init, \.fields)
        if let fields = SceneConnectionFields(callback.fields) {
            checkFields(fields, SceneConnectionFields.init, \.fields)
        }
        if let fields = SceneDisconnectionFields(callback.fields) {
            checkFields(fields, SceneDisconnectionFields.init, \.fields)
        }
    }

    private func checkFields<Fields: Equatable>(
        _ fields: Fields, _ parse: ([Field]) -> Fields?, _ write: (Fields) -> [Field]
    ) {
        require(parse(write(fields)) == fields, "the fields that were written are read again")
    }

    private mutating func drain() {
        while let event = session.next() {
            if case .callback(let callback) = event { callbacks.append(callback) }
        }
        require(!session.hasEvents, "there are events where next() has some")
        require(session.backgroundMillisecondsRemaining(now: now) ?? 0 >= 0, "no time is negative")
    }

    /// The daemon can read everything that the app sends.
    private mutating func sendEverything() {
        for line in session.output.split(separator: UInt8(ascii: "\n")) {
            require((try? MessageFromApp(parsing: line)) != nil, "the daemon reads what the library writes")
        }
        session.didSend(session.output.count)
    }
}
