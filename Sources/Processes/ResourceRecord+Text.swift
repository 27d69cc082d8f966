// A record as one line of text without spaces, for the file from which a daemon goes on where another was killed.

extension ResourceRecord {
    /// The record; parts are separated by semicolons: the profile, what is incomplete, and the values of each setting.
    public var text: String {
        let values = ownValues.filter { !$0.value.rows.isEmpty }.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.key.rawValue)=\($0.value.rows.joined(separator: ","))" }
        let left = incomplete.map(\.rawValue).sorted().joined(separator: ",")
        return ([profile.text, left] + values).joined(separator: ";")
    }

    /// What a text says; nil for one that is none.
    public init?(text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count >= 2, let profile = ResourceProfile(text: parts[0]) else { return nil }
        self.init()
        self.profile = profile
        incomplete = Set(parts[1].split(separator: ",").compactMap { ResourceSetting(rawValue: String($0)) })
        for part in parts.dropFirst(2) {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, let setting = ResourceSetting(rawValue: String(pair[0])) else { continue }
            ownValues[setting] = OwnValues(rows: pair[1].split(separator: ","), within: setting.range)
        }
    }
}

extension ResourceProfile {
    /// The numbers in the order of the properties, "own" for nil.
    fileprivate var text: String {
        let numbers = [cpuWeight, ioWeight, memoryLow, nice, ioPriority?.rawValue, oomScoreAdjustment, timerSlack]
        return numbers.map { $0.map(String.init) ?? "own" }.joined(separator: ",")
    }

    fileprivate init?(text: Substring) {
        let numbers = text.split(separator: ",").map { Int($0) }
        guard numbers.count == 7 else { return nil }
        self.init()
        cpuWeight = numbers[0]
        ioWeight = numbers[1]
        memoryLow = numbers[2]
        nice = numbers[3].flatMap { ResourceSetting.nice.range.contains($0) ? $0 : nil }
        ioPriority = numbers[4].flatMap { IOPriority(rawValue: $0) }
        oomScoreAdjustment = numbers[5]
        timerSlack = numbers[6]
    }
}

extension IOPriority {
    fileprivate init?(rawValue: Int) {
        let level = rawValue & 7
        switch rawValue >> 13 {
        case 1: self = .realTime(level)
        case 2: self = .bestEffort(level)
        case 3: self = .idle
        default: return nil
        }
    }
}
