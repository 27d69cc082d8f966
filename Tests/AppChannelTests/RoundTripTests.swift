import AppChannel
import LifecycleTypes
import TestSupport
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func messageFromAnAppArrivesUnchanged(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let message = generator.messageFromApp()
            let encoded = try message.encoded()
            #expect(try MessageFromApp(parsing: encoded.dropLast()) == message, "seed \(seed)")
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func messageToAnAppArrivesUnchanged(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let message = generator.messageToApp()
            let encoded = try message.encoded()
            #expect(try MessageToApp(parsing: encoded.dropLast()) == message, "seed \(seed)")
        }
    }

    /// Lines that were bent in transit are read or refused, and what is read can be said again.
    @Test(arguments: 0..<50 as Range<UInt64>)
    func `whatever arrives is dealt with`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bent = Array(try generator.messageToApp().encoded().dropLast())
            for _ in 0..<Int.random(in: 1...4, using: &generator) { generator.bend(&bent) }
            if let message = try? MessageToApp(parsing: bent[...]), case let encoded = try message.encoded() {
                #expect(throws: Never.self, "seed \(seed)") { try MessageToApp(parsing: encoded.dropLast()) }
            }
            _ = try? MessageFromApp(parsing: bent[...])
        }
    }
}

extension SeededGenerator {
    mutating func messageFromApp() -> MessageFromApp {
        let id = AssertionID(rawValue: id())
        let messages: [MessageFromApp] = [
            .hello(version: self.id(), resume: nil),
            .hello(version: self.id(), resume: SequenceNumber(rawValue: self.id())),
            .done(SequenceNumber(rawValue: self.id()), answer()),
            .beginTask(id, name: text()), .endTask(id), .beginActivity(id, mode: text()), .endActivity(id),
            .openScene(nil, role: nil, info: text()), .openScene(sceneTwo, role: "a", info: nil), .closeScene(sceneTwo),
            .timeLeft,
            .sceneInfo(sceneTwo, info: text()),
        ]
        return messages[Int.random(in: messages.indices, using: &self)]
    }

    mutating func messageToApp() -> MessageToApp {
        let id = AssertionID(rawValue: id())
        let callback = CallbackMessage(
            Callback.allCases.randomElement(using: &self) ?? .didBecomeActive,
            sequence: SequenceNumber(rawValue: self.id()), deadlineMilliseconds: self.id(),
            state: RunningState.allCases.randomElement(using: &self) ?? .active,
            fields: payload())
        let messages: [MessageToApp] = [
            .welcome(version: self.id(), appID: text()), .callback(callback), .granted(id),
            .refused(id, reason: RefusalReason(rawValue: text())), .expireTask(id, deadlineMilliseconds: self.id()),
            .goodbye(reason: GoodbyeReason(rawValue: text())), .granted(id, timeLeftMilliseconds: self.id()),
            .timeLeft(milliseconds: nil), .timeLeft(milliseconds: self.id()), .mistake(Mistake(.emptyLine)),
            .mistake(Mistake(.missingField, verb: "done", key: "seq")),
        ]
        return messages[Int.random(in: messages.indices, using: &self)]
    }

    mutating func answer() -> AppAnswer {
        let answers: [AppAnswer] =
            [.plain, .handled(true), .handled(false)] + TaskResult.allCases.map { .result($0) }
        return answers.randomElement(using: &self) ?? .plain
    }

    /// Fields that are enough for every kind of callback.
    mutating func payload() -> [Field] {
        OpenURLFields(url: text(), type: text()).fields + PerformTaskFields(kind: text(), payload: text()).fields
            + SceneConnectionFields(scene: sceneTwo, reason: text(), info: text()).fields
    }

    mutating func bend(_ bytes: inout [UInt8]) {
        let index = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &self)
        switch Int.random(in: 0..<3, using: &self) {
        case 0: bytes.insert(.random(in: .min ... .max, using: &self), at: index)
        case 1 where !bytes.isEmpty: bytes.remove(at: index)
        default: bytes = Array(bytes[..<index])
        }
    }
}
