import LifecycleTypes
import TestSupport
import Testing

@testable import Configuration

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("0s", Duration.zero), ("5s", .seconds(5)), ("500ms", .milliseconds(500)), ("250us", .microseconds(250)),
        ("1min", .seconds(60)), ("1min 30s", .seconds(90)), ("1min30s", .seconds(90)), ("2h", .seconds(7200)),
        ("1d", .seconds(86_400)), ("1.5s", .milliseconds(1500)), ("0.1s", .milliseconds(100)),
        ("0.000000001s", .nanoseconds(1)), ("0.0000000019s", .nanoseconds(1)), ("1s  1s ", .seconds(2)),
    ])
    func lengthsOfTime(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", " ", "5", "s", "5m", "5S", "-5s", "+5s", ".5s", "5.s", "5 s", " 5s", "5s,", "1e3s", "٣s", "5s 5",
        "9223372036854775807s", "99999999999999999999s", "106751d 106751d", "5\u{0}s", "1.5.5s",
    ])
    func nothingElse(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(arguments: ["86401", "-1", "'2d'", "nan", "inf", "-0.1", "86400.1", "true", "[1]", "'-1s'"])
    func bounds(value: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("timeouts.launch = \(value)", to: "lifed.toml")
        let configuration = try directory.load()
        #expect(configuration.problems.count == 1)
        #expect(configuration.settings == DaemonSettings())
    }
}

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
