import Testing

@testable import Configuration

@Suite struct TOMLScalarTests {
    @Test(arguments: [
        "0", "-0", "+17", "1_000", "0xDEAD_beef", "0o755", "0b1101", "3.14", "-0.01", "5e+22", "6.626e-34", "1E06",
        "inf",
        "-nan", "true", "false", "1979-05-27", "07:32:00", "07:32:00.999999", "1979-05-27T07:32:00",
        "1979-05-27 07:32:00Z",
        "1979-05-27t00:32:00.5-07:00",
    ])
    func values(text: String) {
        #expect(TOMLScalar.node(of: text) != nil)
    }

    @Test(arguments: [
        "", "+", "-", ".", "_", "01", "-01", "1_", "_1", "1__0", "0x", "+0x1", "0xg", "0o8", "0b2", "1.", ".1", "1.e5",
        "1e", "1e5.0",
        "e5", "1.2.3", "True", "infinity", "0x1.8p1", "1979-5-27", "1979-05-27T", "1979-05-27T07:32", "07:32",
        "07:32:00.",
        "07:32:00Z", "1979-05-27 0", "1979-05-27T07:32:00+7", "1979-05-27T07:32:00Z1", "٣", "1979_05-27",
    ])
    func others(text: String) {
        #expect(TOMLScalar.node(of: text) == nil)
    }
}
