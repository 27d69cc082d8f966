import Systemd
import Testing
import WindowLines

@testable import Follow

/// The values of the GNOME extension.
@MainActor @Suite struct ExtensionValuesTests {
    private func window(
        _ number: Int64, process: UInt64 = 7, app: String = "", visibility: String = "visible", isPointed: Bool = false,
        title: String = ""
    ) -> BusValue {
        .structure([
            .integer(number), .unsigned(process), .text(app), .text(visibility), .bool(isPointed), .text(title),
        ])
    }

    @Test func `windows have process, app, visibility, pointer and title`() throws {
        let values: [BusValue] = [
            .integer(5),
            .array([
                window(5, process: 70, app: "org.example.A", isPointed: true, title: "a"),
                window(6, process: 0, visibility: "minimized"), window(7, visibility: "covered"),
            ]),
        ]
        let line = try #require(WindowLine(extensionValues: values))
        #expect(line.focus == .window(5))
        #expect(
            line.windows == [
                .init(number: 5, process: 70, isAttested: true, appID: "org.example.A", title: "a", isPointed: true),
                .init(number: 6, visibility: .minimized),
                .init(number: 7, process: 7, isAttested: true, visibility: .covered),
            ])
    }

    @Test(arguments: [(0, WindowLine.Focus.nothing), (-1, .unknown)] as [(Int64, WindowLine.Focus)])
    func `focus may be at nothing or unknown`(number: Int64, focus: WindowLine.Focus) {
        #expect(WindowLine(extensionValues: [.integer(number), .array([])])?.focus == focus)
    }

    @Test func `window of an unknown visibility is hidden`() {
        let values: [BusValue] = [.integer(0), .array([window(1, visibility: "rolled up")])]
        #expect(WindowLine(extensionValues: values)?.windows.first?.visibility == .hidden)
    }

    @Test func `texts and lists that are too long are cut`() throws {
        let long = String(repeating: "x", count: 100_000)
        let windows = (1...5000).map { window(Int64($0), app: long, title: long) }
        let line = try #require(WindowLine(extensionValues: [.integer(0), .array(windows)]))
        #expect(line.windows.count == WindowLine.windowLimit)
        #expect(line.windows[0].title.utf8.count == WindowLine.textLimit)
        #expect(line.windows[0].appID.utf8.count == WindowLine.textLimit)
    }

    @Test func `other values are no line`() {
        let values: [[BusValue]] = [
            [], [.integer(0)], [.text("0"), .array([])], [.integer(0), .text("")],
            [.integer(0), .array([.integer(1)])],
            [.integer(0), .array([.structure([.integer(1)])])], [.integer(0), .array([window(0)])],
            [
                .integer(0),
                .array([.structure([.integer(1), .text(""), .text(""), .text(""), .bool(true), .text("")])]),
            ],
        ]
        for each in values { #expect(WindowLine(extensionValues: each) == nil) }
    }
}
