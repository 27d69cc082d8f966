import LifecycleCore
import Testing

@testable import LifecycleDaemon

@Suite struct StateLineTests {
    private func roundTrip(_ kind: StateKind, _ record: SavedRecord) -> (StateKind, SavedRecord)? {
        let bytes = StateLine.encode(kind, record)
        #expect(bytes.last == UInt8(ascii: "\n"))
        #expect(bytes.dropLast().allSatisfy { $0 > 0x1f && $0 != 0x7f })
        return StateLine.decode(bytes.dropLast())
    }

    @Test(arguments: StateKind.allCases)
    func everyKindKeepsItsValuesInOrder(kind: StateKind) {
        let record = SavedRecord(fields: [
            .init(name: "front", value: "b"), .init(name: "front", value: "a"), .init(name: "empty", value: ""),
        ])
        #expect(roundTrip(kind, record) ?? (.forget, SavedRecord()) == (kind, record))
    }

    @Test func everyCharacterIsDecodedAsEncoded() {
        for number in UInt32(0)...0x10_FFFF {
            // Every scalar below 0x800 and one of each block contain all bytes of UTF-8.
            guard number < 0x800 || number % 251 == 0, let scalar = Unicode.Scalar(number) else { continue }
            let record = SavedRecord(fields: [.init(name: "id", value: "a\(scalar)=\(scalar)% \(scalar)")])
            #expect(roundTrip(.launch, record)?.1 == record, "character \(number)")
        }
    }

    @Test func decodingNeverTraps() {
        for byte in UInt8.min...UInt8.max {
            for line in [
                [byte], Array("run id=".utf8) + [byte], Array("run id=%".utf8) + [byte], [byte] + Array("=1".utf8),
            ] {
                _ = StateLine.decode(line[...])
            }
        }
    }

    @Test func kindsAndWordsOfANewerVersionAreIgnored() {
        #expect(StateLine.decode(ArraySlice("weather id=a rain=1".utf8)) == nil)
        #expect(StateLine.decode([]) == nil)
        let decoded = StateLine.decode(ArraySlice("launch id=a word  =odd state=active".utf8))
        #expect(decoded?.1["id"] == "a")
        #expect(decoded?.1["state"] == "active")
    }
}
