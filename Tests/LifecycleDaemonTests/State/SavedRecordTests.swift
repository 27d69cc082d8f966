import LifecycleCore
import Simulation
import Testing

@testable import LifecycleDaemon

/// Records as text, which an administrator can read, whole or damaged.
@Suite nonisolated struct SavedRecordTests {
    private static func record(_ text: String) -> SavedRecord { SavedRecord(encoded: text.utf8) }

    private static func text(_ value: String) -> String {
        var record = SavedRecord()
        record.add("name", value)
        return String(decoding: record.bytes, as: UTF8.self)
    }

    static let values = [
        ("plain", "plain"), ("~{}=:!", "~{}=:!"), ("100%", "100%25"), ("%41", "%2541"), ("a b", "a%20b"),
        ("\t\n\u{1F}\u{0}", "%09%0A%1F%00"), ("\u{7F}", "%7F"), ("é", "é"), ("", ""),
    ]

    @Test(arguments: values)
    func valueIsEncodedWhereItHasTo(value: String, encoded: String) {
        #expect(Self.text(value) == " name=\(encoded)")
        #expect(Self.record(Self.text(value))["name"] == value)
        #expect(SavedRecord(fields: [.init(name: "name", value: value)]).fields.map(\.value) == [value])
    }

    /// A file may begin with any byte.
    @Test func firstValueNeedsNoSpaceBeforeIt() {
        let record = Self.record("id=clock  id=maps x=1")
        #expect(record["id"] == "clock" && record.all("id") == ["clock", "maps"] && record["x"] == "1")
    }

    @Test func recordThatIsCutOffIsReadAsFarAsItGoes() {
        let text = " id=clock state=active given-up=1"
        for count in 0...text.utf8.count {
            let record = Self.record(String(text.prefix(count)))
            #expect(record["id"] == (count < 4 ? nil : String("clock".prefix(count - 4))))
            #expect(record["state"] == (count < 16 ? nil : String("active".prefix(count - 16))))
            #expect((record["given-up"] == "1") == (count == text.utf8.count))
            #expect(record["given-up-for-ever"] == nil && record["i"] == nil && record.all("up").isEmpty)
        }
    }

    @Test func wordWithoutANameAndEscapeWithoutDigitsAreTakenAsTheyAre() {
        let record = Self.record(" clock =7 id=% name=%zz%41 state")
        #expect(record["id"] == "%" && record["name"] == "%zzA" && record["state"] == nil && record["clock"] == nil)
        #expect(record.fields.map(\.name) == ["", "id", "name"])
    }

    static let texts = [
        "save", "", "a:b:c", ":", "\u{301}accent", "\u{1F}", "\u{200D}", "line\nfeed\r\n", "\u{0}", "{\"a\": \"b=c\"}",
    ]

    @Test(arguments: Reason.allCases)
    func exitKeepsItsReason(reason: Reason) {
        for status in [ExitStatus.signal(9), .code(3), .unknown] {
            let exit = ExitRecord(state: .active, reason: reason, status: status, instant: Instant(microseconds: 8))
            #expect(ExitRecord(text: exit.text) == exit)
        }
    }

    @Test(arguments: texts)
    func exitForAReasonOfAnotherVersionIsAnExitForNone(word: String) {
        let exit = ExitRecord(text: "8:active:signal:9:\(word)")
        let instant = Instant(microseconds: 8)
        #expect(exit == ExitRecord(state: .active, reason: .none, status: .signal(9), instant: instant))
    }

    static let causes: [(String, ReclaimRecord.Cause)] = [
        (
            "pressure:1250:300:4096",
            .pressure(MemoryShortage(.critical, someWaited: 1250, allWaited: 300, available: 4096))
        ),
        ("pressure:1250:300", .pressure(MemoryShortage(.critical, someWaited: 1250, allWaited: 300))),
        ("simulation:", .simulation),
        ("simulation", .simulation), ("suspended-limit:3", .suspendedLimit(3)),
    ]

    @Test(arguments: causes)
    func causeOfAReclaimIsRead(text: String, cause: ReclaimRecord.Cause) {
        #expect(ReclaimRecord.Cause(text: text) == cause && ReclaimRecord.Cause(text: cause.text) == cause)
    }
}
