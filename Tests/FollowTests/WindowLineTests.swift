import Testing
import WindowLines

/// The line between a window source and lifectl.
@Suite struct WindowLineTests {
    private func read(_ text: String) throws -> WindowLine { try #require(WindowLine(text)) }

    @Test func `a line has the focus and the windows`() throws {
        let line = WindowLine(
            focus: .window(12),
            windows: [
                .init(number: 12, process: 345, isAttested: true, appID: "org.example.A", title: "a ä"),
                .init(number: 13, process: 346, appID: "", visibility: .minimized, title: ""),
                .init(
                    number: 14, isAttested: true, appID: "x y", visibility: .workspace, title: "100%", isPointed: true),
            ])
        let text =
            "12 12:345:org%2Eexample%2EA:visible:a%20%C3%A4 13:346?::minimized: 14:0:x%20y:workspace:100%25:pointed\n"
        #expect(String(decoding: line.bytes, as: UTF8.self) == text)
        #expect(try read(text) == line)
    }

    @Test func `the focus may be at nothing or unknown`() throws {
        #expect(try read("0") == WindowLine(focus: .nothing))
        #expect(try read("-\n") == WindowLine(focus: .unknown))
        #expect(WindowLine().bytes == Array("-\n".utf8))
    }

    @Test func `further fields of a window are ignored`() throws {
        #expect(
            try read("0 1:2:a:visible:t:new:fields").windows == [
                .init(number: 1, process: 2, isAttested: true, appID: "a", title: "t")
            ])
    }

    @Test(arguments: [
        "", "\n", " ", "x", "-1", "1 2", "1 2:3:4:5", "1 2:?:a:visible:t", "1 2:x:a:visible:t", "1 2:3:a:seen:t",
    ])
    func `any other text is no line`(text: String) {
        #expect(WindowLine(text) == nil)
    }

    @Test(arguments: ["%", "%4", "%zz", "%+1", "%-1", "a%2", "%C3", "\u{0}\u{301}:"])
    func `a text of any bytes is read`(title: String) throws {
        #expect(try read("0 1:0:%FF:visible:\(title)").windows.count == 1)
    }

    @Test func `each byte of a text comes back`() throws {
        let title = String(decoding: (0...127).map { UInt8($0) }, as: UTF8.self) + "ä\u{301}\u{10FFFF}"
        let line = WindowLine(focus: .nothing, windows: [.init(number: 1, appID: title, title: title)])
        #expect(WindowLine(String(decoding: line.bytes, as: UTF8.self)) == line)
    }

    @Test func `a text is cut off between two characters`() {
        let window = WindowLine.Window(
            number: 1, appID: String(repeating: "a", count: 300), title: "a" + String(repeating: "ä", count: 300))
        #expect(window.appID == String(repeating: "a", count: WindowLine.textLimit))
        #expect(window.title == "a" + String(repeating: "ä", count: 127))
    }

    @Test func `a line has an end however many windows there are`() throws {
        let windows = (1...5000).map { WindowLine.Window(number: Int64($0)) }
        let text = String(decoding: WindowLine(focus: .nothing, windows: windows).bytes, as: UTF8.self)
        #expect(try read(text).windows.count == WindowLine.windowLimit)
    }
}
