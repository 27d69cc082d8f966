import ControlAPI

extension Presentation {
    /// Why an app was ended for its memory, as lines of its details.
    func reclaim(_ reclaim: Reclaim?) -> [(String, String?)] {
        guard let reclaim else { return [] }
        let more = reclaim.candidates - Int64(reclaim.order.count)
        let order = reclaim.order.map(Text.printable).joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
        return [
            ("memory was short", Text.printable(reclaim.cause)),
            ("could be ended", order),
            ("gave back", reclaim.freed.map(Text.size)),
        ]
    }
}

extension Text {
    /// An amount of memory in the largest unit that leaves a whole number above zero.
    static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<(1 << 10): "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        default: "\(bytes >> 20) MiB"
        }
    }
}
