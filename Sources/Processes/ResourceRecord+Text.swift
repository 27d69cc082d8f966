// A record as one line of text without spaces, for the file from which a daemon goes on where another was killed.

// Put together and taken apart as bytes: each focus writes two of them, and a successor reads one for each app.

extension ResourceRecord {
    /// The record; parts are separated by semicolons: the profile, what is incomplete, and the values of each setting.
    public var text: String {
        var text = profile.text + ";"
        if !incomplete.isEmpty { text += incomplete.map { $0.rawValue }.sorted().joined(separator: ",") }
        for setting in ResourceSetting.allCases.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let rows = ownValues[setting]?.rows, !rows.isEmpty else { continue }
            text += ";" + setting.rawValue + "=" + rows.joined(separator: ",")
        }
        return text
    }

    /// What a text says; nil for one that is none.
    public init?(text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        guard parts.count >= 2, let profile = ResourceProfile(text: parts[0]) else { return nil }
        self.init()
        self.profile = profile
        incomplete = Set(parts[1].split(separator: UInt8(ascii: ",")).compactMap { ResourceSetting(word: $0) })
        for part in parts.dropFirst(2) {
            guard let sign = part.firstIndex(of: UInt8(ascii: "=")), let setting = ResourceSetting(word: part[..<sign])
            else { continue }
            let rows = part[part.index(after: sign)...].split(separator: UInt8(ascii: ","))
            ownValues[setting] = OwnValues(rows: rows, within: setting.range)
        }
    }
}

extension ResourceSetting {
    fileprivate init?(word: Substring.UTF8View) {
        guard let word = String(word) else { return nil }
        self.init(rawValue: word)
    }
}

extension Substring.UTF8View {
    /// The number that this is in full.
    func number<Number: FixedWidthInteger>() -> Number? { Number(Substring(self)) }
}

extension ResourceProfile {
    /// The numbers in the order of the properties, "own" for nil. The limit of processes is the same in all states, and is
    /// written to the cgroup again after a restart.
    fileprivate var text: String {
        let numbers = [cpuWeight, ioWeight, memoryLow, nice, ioPriority?.rawValue, oomScoreAdjustment, timerSlack]
        return numbers.map { $0.map(String.init) ?? "own" }.joined(separator: ",")
    }

    fileprivate init?(text: Substring.UTF8View) {
        let numbers = text.split(separator: UInt8(ascii: ",")).map { $0.number() as Int? }
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
