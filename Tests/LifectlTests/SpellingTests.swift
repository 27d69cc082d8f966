import LifecycleTypes
import Testing

@Suite struct SpellingTests {
    @Test(arguments: [
        ("list", "list"), ("lst", "list"), ("lisst", "list"), ("liat", "list"), ("lsit", "list"), ("tsil", nil),
        ("backgrond", "background"), ("bakcgruond", "background"), ("", nil), ("l", nil), ("fox", nil),
    ])
    func knownWordIsFoundWithAMistakeForThreeLetters(word: String, known: String?) {
        #expect(Spelling.nearest(to: word, among: ["background", "list", "focus"]) { Array($0.utf8) } == known)
    }

    @Test func firstOfEqualWordsIsFound() {
        #expect(Spelling.nearest(to: "bat", among: ["cat", "hat"]) { Array($0) } == "cat")
    }

    @Test func lettersThatDoNotCountAreNoMistakes() {
        let known = Spelling.nearest(to: "FOCUS", among: ["focus"]) { Array($0.lowercased()) }
        #expect(known == "focus")
        #expect(Spelling.nearest(to: "FOCUS", among: ["focus"]) { Array($0) } == nil)
    }
}
