import AppChannel
import Testing

@Suite struct LineBufferTests {
    private func drain(_ buffer: inout LineBuffer) -> [String] {
        var texts: [String] = []
        while let entry = buffer.next() {
            switch entry {
            case .line(let line): texts.append(String(decoding: line, as: UTF8.self))
            case .tooLongLine: texts.append("too long")
            }
        }
        return texts
    }

    @Test(arguments: 1...9)
    func `lines are the same however they are cut`(size: Int) {
        var buffer = LineBuffer()
        var texts: [String] = []
        let stream = Array("one\n\ntwo three\nfour".utf8)
        for start in stride(from: 0, to: stream.count, by: size) {
            buffer.append(stream[start..<min(start + size, stream.count)])
            texts += drain(&buffer)
        }
        #expect(texts == ["one", "", "two three"])
        buffer.append([UInt8(ascii: "\n")])
        #expect(drain(&buffer) == ["four"])
        #expect(buffer.isEmpty)
    }

    @Test(arguments: [(16383, "long"), (16384, "too long"), (16385, "too long"), (100_000, "too long")])
    func `a line of more than 16384 bytes is left out and reported in its place`(length: Int, outcome: String) {
        var buffer = LineBuffer()
        buffer.append("before\n".utf8)
        buffer.append(repeatElement(UInt8(ascii: "x"), count: length))
        buffer.append("\nafter\n".utf8)
        let texts = drain(&buffer).map { $0.count == length ? "long" : $0 }
        #expect(texts == ["before", outcome, "after"])
    }

    @Test func `ten megabytes without a line feed are reported once and not kept`() {
        var buffer = LineBuffer()
        let piece = [UInt8](repeating: 0, count: 64 << 10)
        var texts: [String] = []
        for _ in 0..<160 {
            buffer.append(piece)
            texts += drain(&buffer)
        }
        #expect(texts == ["too long"])
        buffer.append("\nhello\n".utf8)
        #expect(drain(&buffer) == ["hello"])
    }

    @Test(arguments: [0, 1, 20, 16383, 16384, 16385, 20_000])
    func `a stream goes on from the remainder`(length: Int) {
        var first = LineBuffer()
        first.append("before\n".utf8)
        first.append(repeatElement(UInt8(ascii: "x"), count: length))
        var reports = drain(&first)
        #expect(first.remainder.count == min(length, AppProtocol.maximumLineLength))

        var second = LineBuffer(remainder: first.remainder)
        second.append("y\nafter\n".utf8)
        reports += drain(&second)
        let whole = length + 1 < 16384 ? String(repeating: "x", count: length) + "y" : "too long"
        #expect(reports == ["before", whole, "after"])
        #expect(second.remainder.isEmpty)
    }

    @Test func `a remainder that no buffer has given does no harm`() {
        var buffer = LineBuffer(remainder: Array(repeating: UInt8(ascii: "\n"), count: 100_000))
        #expect(buffer.remainder.count == AppProtocol.maximumLineLength)
        buffer.append("x\nafter\n".utf8)
        #expect(drain(&buffer) == ["after"])
    }

    @Test func `lines hold any bytes but line feeds`() {
        var buffer = LineBuffer()
        let line = (UInt8.min...UInt8.max).filter { $0 != UInt8(ascii: "\n") }
        buffer.append(line + [UInt8(ascii: "\n")])
        #expect(buffer.next() == .line(line[...]))
        #expect(buffer.next() == nil)
    }
}
