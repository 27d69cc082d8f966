import Testing

@testable import Varlink

@Suite struct MessageBufferTests {
    @Test func aSenderThatIsAlwaysAheadDoesNotMakeItGrow() throws {
        var buffer = MessageBuffer(limit: 1000)
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 500) + [0]
        buffer.append(text)
        for _ in 0..<10_000 {
            buffer.append(text)
            #expect(try buffer.next()?.count == 500)
        }
        #expect(buffer.count == text.count)
        #expect(buffer.storedCount < 512 << 10)
    }

    @Test func aMessageThatIsKeptDoesNotKeepTheRest() throws {
        var buffer = MessageBuffer(limit: 1000)
        buffer.append(message("one") + message("two"))
        let first = try #require(try buffer.next())
        #expect(first.startIndex == 0 && first.count == 3)
    }
}
