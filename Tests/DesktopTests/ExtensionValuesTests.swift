import LifecycleTypes
import Systemd
import Testing

@testable import Desktop

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
        let seen = try #require(Observation(extensionValues: values))
        #expect(seen.focusedItem == Item(number: 5, process: 70, title: "a"))
        #expect(seen.uses[.visible] == [Item(number: 5, process: 70, title: "a")])
        #expect(seen.uses[.pointed] == [Item(number: 5, process: 70, title: "a")])
    }

    @Test(arguments: [(0, .nothing), (-1, .unknown), (9, .unknown)] as [(Int64, Observation.Focus)])
    func `focus may be at nothing or unknown`(number: Int64, focus: Observation.Focus) {
        #expect(Observation(extensionValues: [.integer(number), .array([window(1)])])?.focus == focus)
    }

    @Test func windowThatIsNotVisibleIsNotReported() {
        let values: [BusValue] = [
            .integer(0), .array([window(1, visibility: "rolled up"), window(2, visibility: "covered")]),
        ]
        #expect(Observation(extensionValues: values)?.uses == [.visible: [], .pointed: []])
    }

    @Test func listThatIsTooLongIsCut() throws {
        let windows = (1...5000).map { window(Int64($0)) }
        let seen = try #require(Observation(extensionValues: [.integer(0), .array(windows)]))
        #expect(seen.uses[.visible]?.count == Observation.limit)
    }

    @Test func `other values are no observation`() {
        let values: [[BusValue]] = [
            [], [.integer(0)], [.text("0"), .array([])], [.integer(0), .text("")],
            [.integer(0), .array([.integer(1)])],
            [.integer(0), .array([.structure([.integer(1)])])], [.integer(0), .array([window(0)])],
            [
                .integer(0),
                .array([.structure([.integer(1), .text(""), .text(""), .text(""), .bool(true), .text("")])]),
            ],
        ]
        for each in values { #expect(Observation(extensionValues: each) == nil) }
    }
}
