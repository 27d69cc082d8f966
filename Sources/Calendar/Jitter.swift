/// Delays that keep what happens at the same time apart.
public enum Jitter {
    /// Returns a delay that is always the same for the same app and instant, so that it needs no memory, and as good as random otherwise.
    ///
    /// - Parameters:
    ///   - app: The id of the app.
    ///   - instant: The time of the event that is delayed.
    ///   - maximum: The longest delay; more than 366 days count as 366.
    /// - Returns: A delay from zero to the maximum, in whole microseconds.
    public static func delay(for app: String, at instant: Timestamp, upTo maximum: Duration) -> Duration {
        let (seconds, attoseconds) = min(max(maximum, .zero), longest).components
        let limit = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        var hash = fnv(app.utf8, from: 0xcbf2_9ce4_8422_2325)
        hash = fnv((0..<8).map { UInt8(truncatingIfNeeded: instant.microseconds >> ($0 * 8)) }, from: hash)
        return .microseconds(Int64(mix(hash) % (UInt64(limit) + 1)))
    }

    /// More than any schedule needs, and few enough microseconds to count.
    private static let longest = Duration.seconds(366 * 86_400)

    /// Returns an FNV-1a hash, which, unlike Swift's own, is the same in every run.
    private static func fnv(_ bytes: some Sequence<UInt8>, from start: UInt64) -> UInt64 {
        bytes.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Spreads what the last bytes changed over all bits (the last step of SplitMix64).
    private static func mix(_ hash: UInt64) -> UInt64 {
        var mixed = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
