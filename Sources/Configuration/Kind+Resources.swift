extension Kind {
    /// The word "own" for what an app has by itself, or a value.
    static func own<Wrapped>(or kind: Kind<Wrapped>) -> Kind where Value == Wrapped? {
        Kind { node throws(Mismatch) in
            if node == .string("own") { return nil }
            do throws(Mismatch) {
                return try kind.read(node)
            } catch {
                throw error.allowing(#""own""#)
            }
        }
    }
}

extension Kind<Int> {
    /// An amount of memory.
    static let size = Kind(#"a size, such as "512K", "64M", "1G", or a number of bytes"#) { node in
        switch node {
        case .string(let text): SizeText.parse(text)
        case .integer(let bytes): bytes >= 0 ? bytes : nil
        default: nil
        }
    }
}

extension Kind<Settings.Resources.IOPriority> {
    /// A class and, for two of the three, a level.
    static let ioPriority = Kind(#""idle", "best-effort:0" to "best-effort:7" or "realtime:0" to "realtime:7""#) {
        node in
        guard case .string(let text) = node else { return nil }
        if text == "idle" { return .idle }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 1, let level = Int(parts[1]), (0...7).contains(level) else {
            return nil
        }
        return switch parts[0] {
        case "best-effort": .bestEffort(level)
        case "realtime": .realTime(level)
        default: nil
        }
    }
}

extension Kind<Settings.ProcessLimit> {
    /// A number, a share of what the machine can have, or no limit.
    static let processLimit = Kind(#"an integer from 1 to 4194304, "1%" to "100%" or "infinity""#) { node in
        switch node {
        case .integer(let number): return 1...4_194_304 ~= number ? .number(number) : nil
        case .string("infinity"): return .unlimited
        case .string(let text):
            guard text.utf8.last == UInt8(ascii: "%"), text.utf8.first != UInt8(ascii: "+"),
                let percent = Int(text.dropLast()), 1...100 ~= percent
            else { return nil }
            return .percent(percent)
        default: return nil
        }
    }
}
