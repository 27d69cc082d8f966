/// What threads or processes had of their own before it was changed, for one ``ResourceSetting``.
///
/// A value that is not the one that was set last has been chosen by the program itself meanwhile, and is its own from
/// then on. One that was born since has inherited what was set, and with it what it stands for.
struct OwnValues: Hashable {
    /// A thread of a process, or a process, whose number is then that of its first thread.
    struct Bearer: Hashable {
        let process: ProcessIdentity
        let id: ProcessID
    }

    private struct Record: Hashable {
        let own: Int
        let set: Int
    }

    private var records: [Bearer: Record] = [:]

    /// Goes through all there are, and sets each to what it should have.
    ///
    /// - Parameter bearers: All of them, with their present values. What is not among them is forgotten.
    /// - Parameter desired: What one with this value of its own should have.
    /// - Parameter set: Sets a value, and says whether it was.
    mutating func update(
        _ bearers: [(bearer: Bearer, current: Int)], desired: (_ own: Int) -> Int,
        set: (_ bearer: Bearer, _ value: Int) -> Bool
    ) {
        let inheritance = inheritedValues()
        var updated: [Bearer: Record] = [:]
        for (bearer, current) in bearers {
            let own = own(of: bearer, current: current, inheritance)
            let value = desired(own)
            let isSet = value == current || set(bearer, value)
            let present = isSet ? value : current
            if present != own { updated[bearer] = Record(own: own, set: present) }
        }
        records = updated
    }

    private func own(of bearer: Bearer, current: Int, _ inheritance: [Int: Int]) -> Int {
        guard let record = records[bearer] else { return inheritance[current] ?? current }
        return record.set == current ? record.own : current
    }

    /// What the values that were set stand for. Where one stands for several, the oldest process decides.
    private func inheritedValues() -> [Int: Int] {
        var values: [Int: (own: Int, bearer: Bearer)] = [:]
        for (bearer, record) in records {
            if let known = values[record.set], known.bearer.isOlder(than: bearer) { continue }
            values[record.set] = (record.own, bearer)
        }
        return values.mapValues { $0.own }
    }
}

extension OwnValues.Bearer {
    fileprivate func isOlder(than other: Self) -> Bool {
        (process.startTime, process.pid, id) < (other.process.startTime, other.process.pid, other.id)
    }
}

extension OwnValues {
    /// Each value as numbers: process, its start, thread, own value, set value.
    var rows: [String] {
        records.map { bearer, record in
            "\(bearer.process.pid):\(bearer.process.startTime):\(bearer.id):\(record.own):\(record.set)"
        }
    }

    /// What rows say; those that make no sense, or hold what no process can have, are left out.
    init(rows: some Sequence<Substring.UTF8View>, within range: ClosedRange<Int>) {
        for row in rows {
            let parts = row.split(separator: UInt8(ascii: ":"))
            guard parts.count == 5, let pid: ProcessID = parts[0].number(), let startTime: UInt64 = parts[1].number(),
                let id: ProcessID = parts[2].number(), let own: Int = parts[3].number(),
                let set: Int = parts[4].number(),
                range.contains(own), range.contains(set)
            else { continue }
            let bearer = Bearer(process: ProcessIdentity(pid: pid, startTime: startTime), id: id)
            records[bearer] = Record(own: own, set: set)
        }
    }
}
