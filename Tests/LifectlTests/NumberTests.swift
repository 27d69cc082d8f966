import Testing

@testable import lifectl

/// Numbers that lifectl reads and writes itself, because Embedded Swift has no text of a floating-point number.
@Suite struct NumberTests {
    @Test(arguments: ["0", "5", "0.5", ".5", "1e3", "-2.25", "+7", "0x10", "1e9", "inf"])
    func textIsReadAsTheLibraryReadsIt(text: String) {
        #expect(Text.number(text) == Double(text))
    }

    @Test(arguments: ["", " 5", "5 ", "\t5", "x", "5s", "1,5", "--5", "é"])
    func textThatIsNoNumberIsRefused(text: String) {
        #expect(Text.number(text) == nil)
    }

    @Test(arguments: [
        (Duration.seconds(60), "60 s"), (.milliseconds(500), "0.5 s"), (.milliseconds(1_250), "1.25 s"),
        (.milliseconds(3_005), "3.005 s"), (.microseconds(999), "0 s"),
    ])
    func secondsHaveNoZerosAtTheirEnd(time: Duration, text: String) {
        #expect(Text.seconds(time) == text)
    }
}
