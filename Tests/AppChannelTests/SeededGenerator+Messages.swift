import TestSupport

extension SeededGenerator {
    mutating func id() -> Int64 {
        // Small ones, great ones and the limits are all likely.
        let candidates: [Int64] = [0, 1, Int64(truncatingIfNeeded: next() >> 1), .max]
        return candidates.randomElement(using: &self) ?? 0
    }

    mutating func text() -> String {
        let scalars: [ClosedRange<UInt32>] = [0x01...0x7F, 0x80...0x7FF, 0x800...0xD7FF, 0xE000...0x10FFFF]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...40, using: &self) {
            let range = scalars.randomElement(using: &self) ?? 0x20...0x7E
            if let scalar = UnicodeScalar(UInt32.random(in: range, using: &self)) { text.append(scalar) }
        }
        return String(text)
    }
}
