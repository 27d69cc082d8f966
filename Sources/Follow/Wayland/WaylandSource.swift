import WindowLines
final class WaylandSource: WindowSource {
    init() throws(SourceEnd) { throw SourceEnd(reason: "x") }
    var descriptor: CInt { -1 }
    var hasUnsent: Bool { false }
    func handleEvents() throws(SourceEnd) -> Bool { false }
    func currentLine() throws(SourceEnd) -> WindowLine? { nil }
}
