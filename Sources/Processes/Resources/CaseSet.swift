/// A set of the cases of an enumeration with at most eight, in one byte.
struct CaseSet<Element: CaseIterable & RawRepresentable<Int>>: Hashable, Sendable {
    /// A bit for each case.
    private(set) var bits: UInt8 = 0

    init() {}

    init(_ cases: some Sequence<Element>) {
        for element in cases { insert(element) }
    }

    /// Creates a set of the cases that these bits stand for; other bits are ignored.
    init(bits: UInt8) { self.bits = bits & (1 << Element.allCases.count - 1) }

    var isEmpty: Bool { bits == 0 }
    var count: Int { bits.nonzeroBitCount }
    func contains(_ element: Element) -> Bool { bits & 1 << element.rawValue != 0 }
    mutating func insert(_ element: Element) { bits |= 1 << element.rawValue }
    mutating func remove(_ element: Element) { bits &= ~(1 << element.rawValue) }
}
