import CLinux
import CommandLineTable
import ControlAPI

/// `lifectl doctor`
enum Doctor {
    static func run(_ arguments: Arguments) throws(Failure) {
        let examination = Examination(Surroundings.collect(arguments.options))
        try arguments.options.show(examination) { present in present.examination(examination) }
        if examination.failed > 0 { exit(Outcome.checkFailed.rawValue) }
    }
}

extension Finding {
    static func ok(_ subject: String, _ found: String) -> Finding {
        Finding(subject: subject, verdict: .ok, found: found)
    }

    static func degraded(_ subject: String, _ found: String, cost: String, remedy: String) -> Finding {
        Finding(subject: subject, verdict: .degraded, found: found, cost: cost, remedy: remedy)
    }

    static func failed(_ subject: String, _ found: String, cost: String, remedy: String) -> Finding {
        Finding(subject: subject, verdict: .failed, found: found, cost: cost, remedy: remedy)
    }
}

extension Presentation {
    func examination(_ examination: Examination) -> String {
        let width = examination.findings.map { $0.subject.count }.max() ?? 0
        let margin = String(repeating: " ", count: width + 12)
        let lines = examination.findings.map { finding in
            let verdict = style.verdict(finding.verdict)
            var text = "\(verdict)  \(Text.trailing(finding.subject, width: width))  \(Text.printable(finding.found))\n"
            if let cost = finding.cost { text += "\(margin)\(Text.printable(cost))\n" }
            if let remedy = finding.remedy { text += "\(margin)Remedy: \(Text.printable(remedy))\n" }
            return text
        }
        let (ok, degraded, failed) = (examination.ok, examination.degraded, examination.failed)
        return lines.joined()
            + "\(examination.findings.count) checks: \(ok) ok, \(degraded) degraded, \(failed) failed\n"
    }
}
