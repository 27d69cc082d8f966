@testable import AppChannel
@testable import LifecycleClient

extension FuzzTarget {
    /// What the daemon says, as an app reads it, between things that the app does: a byte says what, and a line follows.
    static let appSession = FuzzTarget("app-session") { bytes in
        var input = FuzzInput(bytes)
        var app = FuzzedApp(hasChannel: input.number(below: 8) > 0)
        while !input.isEmpty { app.take(&input) }
    }
}

/// An app that does as the input says.
private struct FuzzedApp {
    var session: Session
    var tasks: [AssertionID] = []
    var callbacks: [CallbackMessage] = []
    var now: Int64 = 1

    init(hasChannel: Bool) {
        session = Session(hasChannel: hasChannel, canResume: true)
    }

    mutating func take(_ input: inout FuzzInput) {
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
        default: receive(input.bytesOfLine(), isWhole: action != 10)
        }
        drain()
    }

    private mutating func receive(_ line: ArraySlice<UInt8>, isWhole: Bool) {
        compareWithEmbedded(line)
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
    }

    private func checkFields<Fields: Equatable>(
        _ fields: Fields, _ parse: ([Field]) -> Fields, _ write: (Fields) -> [Field]
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

    /// Whatever the app sends, the daemon can read.
    private mutating func sendEverything() {
        for line in session.output.split(separator: UInt8(ascii: "\n")) {
            require((try? MessageFromApp(parsing: line)) != nil, "the daemon reads what the library writes")
        }
        session.didSend(session.output.count)
    }
}
