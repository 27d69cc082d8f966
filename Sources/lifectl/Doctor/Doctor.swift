import CommandLineTable
import ControlAPI
import Glibc

/// `lifectl doctor`
enum Doctor {
    static func run(_ arguments: Arguments) throws {
        let examination = Examination(Surroundings.collect(arguments.options))
        try arguments.options.show(examination) { present in present.examination(examination) }
        if examination.isBad { exit(Outcome.failed.rawValue) }
    }
}

extension Finding {
    static func ok(_ subject: String, _ found: String) -> Finding {
        Finding(subject: subject, verdict: .ok, found: found)
    }

    static func less(_ subject: String, _ found: String, cost: String, remedy: String? = nil) -> Finding {
        Finding(subject: subject, verdict: .degraded, found: found, cost: cost, remedy: remedy)
    }

    static func bad(_ subject: String, _ found: String, cost: String, remedy: String? = nil) -> Finding {
        Finding(subject: subject, verdict: .failed, found: found, cost: cost, remedy: remedy)
    }
}

extension Examination {
    var isBad: Bool { findings.contains { $0.verdict == .failed } }
}

extension Presentation {
    func examination(_ examination: Examination) -> String {
        let width = examination.findings.map(\.subject.count).max() ?? 0
        let margin = String(repeating: " ", count: width + 8)
        let lines = examination.findings.map { finding in
            let verdict = style.verdict(finding.verdict)
            var text = "\(verdict)  \(Text.trailing(finding.subject, width: width))  \(Text.printable(finding.found))\n"
            for more in [finding.cost, finding.remedy].compactMap(\.self) {
                text += "\(margin)\(Text.printable(more))\n"
            }
            return text
        }
        let bad = examination.findings.count { $0.verdict == .failed }
        let less = examination.findings.count { $0.verdict == .degraded }
        let sum =
            bad + less == 0
            ? "everything is there"
            : "\(bad) of \(examination.findings.count) do not work, \(less) work with less"
        return lines.joined() + sum + "\n"
    }
}
