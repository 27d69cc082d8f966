@testable import Configuration

extension FuzzTarget {
    /// The small languages within values: durations, sizes, ids.
    static let values = FuzzTarget("values", takesList: true) { bytes in
        guard let text = String(validating: bytes, as: UTF8.self) else { return }
        if let duration = DurationText.parse(text) {
            require(duration >= .zero, "no duration is negative")
            require(DurationText.parse(text + " 0s") == duration, "nothing added is nothing added")
        }
        if let size = SizeText.parse(text) {
            require(size >= 0, "no size is negative")
            require(SizeText.parse(String(size)) == size, "a size in bytes is itself")
        }
        _ = TOMLScalar.node(of: text)
        if AppIdentifier.isValid(text) {
            require(!text.contains("/") && text != "." && text != ".." && !text.isEmpty, "an id is one name of a path")
        }
        require(!text.quoted.unicodeScalars.contains { $0.value < 32 }, "what is quoted is plain")
    }
}
