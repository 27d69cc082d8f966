import Bytes
import Testing

@Suite struct ByteBufferTests {
    @Test(arguments: [0, 1, 7, 64])
    func bufferThatGrowsKeepsItsBytes(capacity: Int) {
        var buffer = ByteBuffer(capacity: capacity)
        var expected: [UInt8] = []
        for number in 0..<100 {
            buffer.append(UInt8(number))
            buffer.append(literal: "abc")
            buffer.append("ä")
            expected += [UInt8(number)] + Array("abcä".utf8)
        }
        #expect(buffer.array == expected)
        #expect(buffer.count == expected.count && buffer.capacity >= buffer.count)
    }

    @Test func emptyTextAppendsNothing() {
        var buffer = ByteBuffer(capacity: 1)
        buffer.append("")
        buffer.append(literal: "")
        buffer.append([UInt8]().span)
        #expect(buffer.array.isEmpty)
    }

    @Test func functionWritesWithinTheReservedBytes() {
        var buffer = ByteBuffer(capacity: 1)
        buffer.append(ascii: "<")
        unsafe buffer.append(atMost: 50) { start in
            unsafe start.initialize(repeating: UInt8(ascii: "x"), count: 50)
            return unsafe start + 2
        }
        buffer.append(ascii: ">")
        #expect(buffer.array == Array("<xx>".utf8))
    }

    @Test func rangeGivesItsBytesAlone() {
        var buffer = ByteBuffer(capacity: 8)
        buffer.append("abcdef")
        #expect(buffer.withBytes(2..<4) { bytes in bytes.indices.map { bytes[$0] } } == Array("cd".utf8))
        #expect(buffer.withBytes(6..<6) { $0.count } == 0)
    }

    @Test func removalKeepsMemoryUpToALimit() {
        var buffer = ByteBuffer(capacity: 16)
        buffer.append(String(repeating: "x", count: 15))
        buffer.removeAll(keepingCapacity: 16)
        #expect(buffer.count == 0 && buffer.capacity == 16)
        buffer.append(String(repeating: "x", count: 100))
        buffer.removeAll(keepingCapacity: 16)
        #expect(buffer.count == 0 && buffer.capacity == 16)
        buffer.append("again")
        #expect(buffer.array == Array("again".utf8))
    }
}

@Suite struct DecimalDigitsTests {
    private func text(_ digits: DecimalDigits) -> String {
        digits.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, 99, 100, 4_294_967_296, .max, .min])
    func digitsOfASignedNumberAreItsDescription(number: Int64) {
        #expect(text(DecimalDigits(number)) == String(number))
    }

    @Test(arguments: [0, 7, 10, UInt64(Int64.max) + 1, .max])
    func digitsOfAnUnsignedNumberAreItsDescription(number: UInt64) {
        #expect(text(DecimalDigits(number)) == String(number))
    }

    @Test func bufferTakesDigitsBehindItsBytes() {
        var buffer = ByteBuffer(capacity: 1)
        buffer.append(ascii: "=")
        buffer.append(DecimalDigits(UInt64.max))
        buffer.append(DecimalDigits(Int64.min))
        #expect(buffer.array == Array("=\(UInt64.max)\(Int64.min)".utf8))
    }
}
