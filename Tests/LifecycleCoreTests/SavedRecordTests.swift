import Simulation
import Testing

@testable import LifecycleCore

/// Records as text, which an administrator can read, whole or damaged.
@Suite struct SavedRecordTests {
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

    @Test(arguments: [0, 9, 10, 99, 1 << 32, UInt64.max])
    func numberIsReadAsItWasWritten(number: UInt64) {
        var record = SavedRecord()
        record.add("number", number)
        #expect(record["number"] == "\(number)")
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
}
