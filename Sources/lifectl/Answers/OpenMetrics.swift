import ControlAPI

/// The daemon's figures as a text for Prometheus and its relatives (OpenMetrics 1.0).
struct OpenMetrics {
    var families: [MetricFamily]
    var metrics: [Metric]

    /// The whole text. A family of words becomes a state set: 1 for the state that it is, 0 for the others.
    var text: String {
        families.map { family in
            let own = metrics.filter { $0.name == family.name }
            let name = Self.name(family)
            let type: String =
                switch family.type {
                case .counter: "counter"
                case .gauge: "gauge"
                case .string: "stateset"
                }
            return "# TYPE \(name) \(type)\n# HELP \(name) \(Escaping.openMetrics(family.description)).\n"
                + own.map { Self.sample($0, family, name) }.joined()
        }.joined() + "# EOF\n"
    }

    /// A counter's family goes without the _total that its samples have.
    private static func name(_ family: MetricFamily) -> String {
        let base =
            family.name.hasPrefix("org.lifed.") ? "lifed_" + family.name.dropFirst("org.lifed.".count) : family.name
        let name = String(String.UnicodeScalarView(base.unicodeScalars.map { $0.isLetterOrDigit ? $0 : "_" }))
        return family.type == .counter && name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
    }

    private static func sample(_ metric: Metric, _ family: MetricFamily, _ name: String) -> String {
        var labels = (metric.fields ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let object = metric.object { labels.insert(("app", object), at: 0) }
        switch metric.value {
        case .number(let number):
            return line(name + (family.type == .counter ? "_total" : ""), labels, String(number))
        case .word(let word):
            return State.allCases.map { state in
                line(name, labels + [(name, state.rawValue)], state.rawValue == word ? "1" : "0")
            }.joined()
        }
    }

    private static func line(_ name: String, _ labels: [(String, String)], _ value: String) -> String {
        let list = labels.map { "\($0)=\"\(Escaping.openMetrics($1))\"" }.joined(separator: ",")
        return "\(name)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
    }
}

extension Unicode.Scalar {
    /// A Boolean value that indicates whether the scalar is an ASCII letter or digit.
    fileprivate var isLetterOrDigit: Bool {
        ("a"..."z").contains(self) || ("A"..."Z").contains(self) || ("0"..."9").contains(self)
    }
}
