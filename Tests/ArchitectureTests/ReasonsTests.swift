import AppChannel
import LifecycleTypes
import Testing

/// Holds docs/integrate/reasons.md to the lists in code.
@Suite struct ReasonsTests {
    static let page = SourceTree.root + "/docs/integrate/reasons.md"

    /// The cells of the table rows under a heading of the page.
    static func rows(under heading: String) throws -> [[String]] {
        let text = try SourceTree.read(page)
        let section = text.split(separator: "\n## ").first { $0.hasPrefix(heading) } ?? ""
        return section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            line.split(separator: "|").map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }
        }
    }

    @Test func pageListsEveryReasonAndItsReceivers() throws {
        let expected = Reason.allCases.map { reason in
            var told: [String] = []
            if reason.isLaunchReason { told.append("launch") }
            if reason.isExitReason { told.append("exit") }
            if reason.callsForRestoration { told.append("restored") }
            return ["`\(reason)`", told.joined(separator: ", ")]
        }
        let rows = try Self.rows(under: "Of states and exits")
        #expect(rows.map { [$0.first ?? "", $0.last ?? ""] } == expected)
    }

    @Test func `the page lists every reason of the channel`() throws {
        let rows = try Self.rows(under: "On the channel alone")
        let lists = [
            "refused": AssertionRefusal.allCases.map(\.rawValue), "mistake": MistakeReason.all.map(\.rawValue),
            "goodbye": GoodbyeReason.all.map(\.rawValue),
        ]
        for (verb, words) in lists {
            let listed = words.map { "`\($0)`" }.joined(separator: ", ")
            #expect(rows.contains(["`\(verb)`", listed]), "\(verb): \(listed)")
        }
    }

    @Test(arguments: ["docs/apps/protocol.md", "docs/man/lifecycle-protocol.7"])
    func `the protocol's pages have every reason that an app can be told`(page: String) throws {
        var text = try SourceTree.read(SourceTree.root + "/" + page)
        text.replace("\\-", with: "-")
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init)
        let reasons =
            AssertionRefusal.allCases.map(\.rawValue) + MistakeReason.all.map(\.rawValue)
            + GoodbyeReason.all.map(\.rawValue)
            + Reason.allCases.filter(\.isLaunchReason).map(\.rawValue)
        for reason in reasons { #expect(words.contains(reason), "\(page) does not have \(reason)") }
    }

    @Test func `every reason has a meaning of its own`() {
        let meanings = Reason.allCases.map(\.meaning)
        #expect(Set(meanings).count == meanings.count)
    }
}
