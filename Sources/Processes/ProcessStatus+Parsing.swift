extension ProcessStatus {
    /// Reads the text of a `stat` file, or nil when it is cut short or not one.
    ///
    /// The name stands in parentheses and may contain anything, parentheses and line ends included.
    /// Only numbers follow it, so it ends at the last closing one.
    public init?(parsing text: [UInt8]) {
        self.init(parsing: text.span)
    }

    /// The same; a stop of a thousand processes reads two thousand of these.
    init?(parsing text: Span<UInt8>) {
        guard let open = text.indices.first(where: { text[$0] == UInt8(ascii: "(") }),
            let close = text.indices.last(where: { text[$0] == UInt8(ascii: ")") }), open < close
        else { return nil }
        var position = 0
        guard let pid: ProcessID = text.number(at: &position), position == open - 1 else { return nil }

        // Field 3, and from there on one space before each.
        position = close + 2
        guard position < text.count, text[close + 1] == UInt8(ascii: " ") else { return nil }
        let letter = text[position]
        position += 1
        guard let parent: ProcessID = text.nextNumber(at: &position),
            let processGroup: ProcessID = text.nextNumber(at: &position),
            let session: ProcessID = text.nextNumber(at: &position),
            // Terminal, its foreground group, flags, four counts of page faults.
            text.skipFields(7, at: &position),
            let userTicks: UInt64 = text.nextNumber(at: &position),
            let systemTicks: UInt64 = text.nextNumber(at: &position),
            // Ticks of children that were waited for, priority, nice value.
            text.skipFields(4, at: &position),
            let threadCount: Int = text.nextNumber(at: &position),
            text.skipFields(1, at: &position),
            let startTime: UInt64 = text.nextNumber(at: &position),
            // What is cut off in the middle of a number says another one.
            text.skipFields(1, at: &position)
        else { return nil }
        self.init(
            pid: pid,
            name: text.string(open + 1..<close),
            state: ProcessState(letter: letter),
            parent: parent,
            processGroup: processGroup,
            session: session,
            processorTicks: userTicks &+ systemTicks,
            threadCount: threadCount,
            startTime: startTime
        )
    }
}

extension Span<UInt8> {
    fileprivate func string(_ range: Range<Int>) -> String {
        unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// The number behind one space, which is followed by another space.
    fileprivate func nextNumber<Number: FixedWidthInteger>(at position: inout Int) -> Number? {
        guard skipSpace(at: &position), let value: Number = number(at: &position), position < count,
            self[position] == UInt8(ascii: " ")
        else { return nil }
        return value
    }

    /// Goes to the end of so many fields, each behind one space; false where there are fewer.
    fileprivate func skipFields(_ number: Int, at position: inout Int) -> Bool {
        for _ in 0..<number {
            guard skipSpace(at: &position) else { return false }
            while position < count, self[position] != UInt8(ascii: " ") { position += 1 }
        }
        return true
    }

    /// Goes behind a space that something else follows.
    private func skipSpace(at position: inout Int) -> Bool {
        guard position + 1 < count, self[position] == UInt8(ascii: " "), self[position + 1] != UInt8(ascii: " ") else {
            return false
        }
        position += 1
        return true
    }
}
