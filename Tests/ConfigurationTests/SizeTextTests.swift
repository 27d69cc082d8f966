import Testing

@testable import Configuration

@Suite struct SizeTextTests {
    @Test(arguments: [
        ("0", 0), ("4096", 4096), ("1B", 1), ("512K", 524_288), ("64M", 67_108_864), ("64 MiB", 67_108_864),
        ("1G", 1_073_741_824), ("1.5K", 1536), ("0.5B", 0), ("8388607T", 8_388_607 << 40),
    ])
    func amounts(text: String, bytes: Int) {
        #expect(SizeText.parse(text) == bytes)
    }

    @Test(arguments: [
        "", " ", "M", ".5M", "5.M", "-1", "+1", "1k", "1MB", "1 M M", "1e3", "1.5.5M", "8388608T",
        "9223372036854775808",
        "1.0123456789M", "٣M", "1M ",
    ])
    func nothingElse(text: String) {
        #expect(SizeText.parse(text) == nil)
    }
}
