import LifecycleCore
import Testing

/// The values of a slot: their bytes, which programs of other versions read, and damaged ones.
@Suite struct SlotTests {
    private static func bytes(capacity: Int = 4096, _ write: (inout SlotWriter) -> Void) -> [UInt8] {
        var slot = SlotWriter(capacity: capacity)
        write(&slot)
        return slot.bytes
    }

    private static func bytes(of number: UInt64?) -> [UInt8] {
        var number = number
        return bytes { $0.number("", &number) }
    }

    private static func bytes(of text: String?, capacity: Int = 4096) -> [UInt8] {
        var text = text
        return bytes(capacity: capacity) { $0.text("", &text) }
    }

    private static func bytes(of list: [String]) -> [UInt8] {
        var list = list
        return bytes { $0.list("", &list) }
    }

    private static func bytes(ofItem item: String?) -> [UInt8] {
        var item = item
        return bytes { $0.item("", &item) }
    }

    // MARK: Bytes

    @Test func bytesOfValuesAreThoseOfEveryVersion() {
        for flag in [false, true] {
            var flag = flag
            #expect(Self.bytes { $0.flag("", &flag) } == [flag ? 1 : 0])
        }
        #expect(Self.bytes(of: UInt64?.none) == [0])
        #expect(Self.bytes(of: 0x0102_0304_0506_0708) == [1, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(Self.bytes(of: String?.none) == [0])
        #expect(Self.bytes(of: "") == [1] && Self.bytes(of: "ab") == [3, 97, 98])
        #expect(Self.bytes(ofItem: nil) == [0, 0, 0, 0, 0, 0, 0, 0])
        #expect(Self.bytes(ofItem: "a") == [3, 0, 0, 0, 0, 0, 0, 0, 2, 97])
        #expect(Self.bytes(of: []) == [1])
        #expect(Self.bytes(of: ["", "a"]) == [3, 2, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 0, 0, 0, 0, 2, 97])
    }

    @Test func longTextHasItsSizeInEightBytes() {
        let text = String(repeating: "a", count: 300)
        #expect(Self.bytes(of: String(text.prefix(253))).prefix(2) == [254, 97])
        #expect(Self.bytes(of: String(text.prefix(254))).prefix(10) == [255, 254, 0, 0, 0, 0, 0, 0, 0, 97])
        #expect(Self.bytes(of: text).prefix(10) == [255, 44, 1, 0, 0, 0, 0, 0, 0, 97])
    }

    // MARK: Values

    static let numbers: [UInt64?] = [nil, 0, 1, 255, 256, 1 << 32, .max - 1, .max]
    static let sizes = [0, 1, 7, 252, 253, 254, 255, 256, 4095, 4096, 70_000]

    /// Writes one value of each kind, the numbers and the texts of all sizes among them.
    private static func writeAll(to slot: inout SlotWriter) {
        var (yes, no) = (true, false)
        slot.flag("", &yes)
        for number in numbers {
            var number = number
            slot.number("", &number)
        }
        slot.flag("", &no)
        for size in sizes {
            var text: String? = String(repeating: "é", count: size / 2) + String(repeating: "x", count: size % 2)
            slot.text("", &text)
            slot.item("", &text)
        }
        var list = sizes.map { String(repeating: "y", count: $0) }
        slot.list("", &list)
    }

    @Test func valuesAreReadAsTheyWereWritten() {
        let bytes = Self.bytes(Self.writeAll)
        // A slot is a part of a file.
        var reader = SlotReader(([9, 9, 9] + bytes)[3...])
        var (flag, number, text, list) = (false, UInt64?.none, String?.none, [String]())
        reader.flag("", &flag)
        #expect(flag)
        for expected in Self.numbers {
            reader.number("", &number)
            #expect(number == expected)
        }
        reader.flag("", &flag)
        #expect(!flag)
        for size in Self.sizes {
            let expected = String(repeating: "é", count: size / 2) + String(repeating: "x", count: size % 2)
            reader.text("", &text)
            #expect(text == expected)
            reader.item("", &text)
            #expect(text == expected)
        }
        reader.list("", &list)
        #expect(list.map(\.utf8.count) == Self.sizes && reader.isAtEnd)
    }

    @Test func writerOfAnyCapacityWritesTheSame() {
        let bytes = Self.bytes(Self.writeAll)
        for capacity in [0, 1, 7, 255, 4097] { #expect(Self.bytes(capacity: capacity, Self.writeAll) == bytes) }
        for capacity in 0...40 {
            let values = Self.bytes(capacity: capacity) { slot in
                var (flag, number, text): (Bool, UInt64?, String?) = (true, .max, "text")
                slot.flag("", &flag)
                slot.number("", &number)
                slot.text("", &text)
                slot.append([1, 2, 3])
                slot.item("", &text)
                slot.pad(adding: 8)
            }
            let numbers: [UInt8] = [1, 1, 255, 255, 255, 255, 255, 255, 255, 255]
            let others: [UInt8] = [5, 116, 101, 120, 116, 1, 2, 3, 6, 0, 0, 0, 0, 0, 0, 0, 5, 116, 101, 120, 116]
            let zeros = [UInt8](repeating: 0, count: 40 - numbers.count - others.count)
            #expect(values == numbers + others + zeros)
        }
    }

    @Test func listOfManyValuesIsRead() {
        for count in [252, 253, 254, 255, 300] {
            let bytes = Self.bytes(of: (0..<count).map { "\($0)" })
            var list: [String] = []
            var reader = SlotReader(bytes[...])
            reader.list("", &list)
            #expect(list.count == count && list.last == "\(count - 1)" && reader.isAtEnd)
        }
    }

    // MARK: Frames

    @Test func paddingIsZero() {
        for count in 0...17 {
            for size in [0, 8, 32] {
                var slot = SlotWriter(capacity: 8)
                slot.append([UInt8](repeating: 0xFF, count: 100))
                slot.cut(to: count)
                slot.pad(adding: size)
                let bytes = slot.bytes
                #expect(bytes.count == (count + 7) / 8 * 8 + size)
                #expect(bytes[..<count].allSatisfy { $0 == 0xFF } && bytes[count...].allSatisfy { $0 == 0 })
            }
        }
    }

    @Test func numberIsPutWhereTheCallerSays() {
        var slot = SlotWriter()
        slot.pad(adding: 24)
        slot.put(0x0102_0304_0506_0708, at: 8)
        let zeros = [UInt8](repeating: 0, count: 8)
        let bytes = slot.bytes
        #expect(bytes == zeros + [8, 7, 6, 5, 4, 3, 2, 1] + zeros)
    }

    @Test func cutForgetsTheEndAlone() {
        var slot = SlotWriter()
        slot.append([1, 2, 3])
        slot.cut(to: 5)
        let whole = slot.bytes
        slot.cut(to: 1)
        slot.append([4])
        let bytes = slot.bytes
        #expect(whole == [1, 2, 3] && bytes == [1, 4])
    }

    @Test func writerIsUsedAgainAfterAStepOfAnySize() {
        var slot = SlotWriter(capacity: 8)
        for size in [3, 8000, 100_000, 3] {
            let step = [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
            slot.append(step)
            let bytes = slot.bytes
            slot.reset()
            let count = slot.count
            #expect(bytes == step && count == 0)
        }
    }

    // MARK: Damage

    /// A value that cannot have been written, and the two bytes after which nothing is read.
    private static let damaged: [[UInt8]] = [
        [1, 1, 1], [9, 1, 1], [255, 1, 1, 1], [255, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1],
    ]

    @Test(arguments: damaged)
    func nothingIsReadBehindAValueThatIsCutOff(bytes: [UInt8]) {
        var (number, text, flag, list) = (UInt64?.some(7), String?.some("x"), true, ["x"])
        var reader = SlotReader(bytes[...])
        if bytes.first == 1 { reader.number("", &number) } else { reader.text("", &text) }
        #expect(number == (bytes.first == 1 ? nil : 7) && text == (bytes.first == 1 ? "x" : nil))
        #expect(reader.isAtEnd)
        reader.flag("", &flag)
        #expect(!flag)
        reader.list("", &list)
        reader.item("", &text)
        #expect(list.isEmpty && text == nil)
    }

    @Test func itemThatSaysTooMuchOrMakesNoSenseIsSkipped() {
        var (item, flag) = (SceneID?.none, false)
        // The name of a scene with a byte after it, and an invalid name.
        for (bytes, name) in [([2, 97, 7], "a"), ([3, 97, 32], nil), ([], nil)] as [([UInt8], String?)] {
            var reader = SlotReader(([UInt8(bytes.count + 1), 0, 0, 0, 0, 0, 0, 0] + bytes + [1])[...])
            reader.item("", &item)
            reader.flag("", &flag)
            #expect(item?.name == name && flag && reader.isAtEnd)
        }
        var reader = SlotReader([200, 0, 0, 0, 0, 0, 0, 0, 2, 97][...])
        reader.item("", &item)
        #expect(item == nil && reader.isAtEnd)
    }

    @Test func listKeepsTheItemsThatMakeSense() {
        let names = ["a", "b c", "d"]
        var list: [SceneID] = []
        var reader = SlotReader(Self.bytes(of: names)[...])
        reader.list("", &list)
        #expect(list.map(\.name) == ["a", "d"] && reader.isAtEnd)
        // A list without a size has no items; what follows is read.
        reader = SlotReader([0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 97][...])
        reader.list("", &list)
        var item: SceneID?
        reader.item("", &item)
        #expect(list.isEmpty && item?.name == "a")
        // A list that promises more than there is.
        reader = SlotReader([255, 255, 255, 255, 255, 255, 255, 255, 255, 3, 0, 0, 0, 0, 0, 0, 0, 2, 97][...])
        reader.list("", &list)
        #expect(list.map(\.name) == ["a"] && reader.isAtEnd)
    }
}
