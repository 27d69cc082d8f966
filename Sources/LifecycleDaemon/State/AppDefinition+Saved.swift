import LifecycleCore
import Processes

// An app that somebody started ad hoc is described nowhere else; a desktop entry may be gone when it is looked for again.
extension AppDefinition {
    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("name", name)
        for word in command { record.add("argument", word) }
        record.add("user", user.text)
        record.add("adopted", isAdopted ? "1" : nil)
        record.add("like", model)
        record.add("working-directory", workingDirectory)
        record.add("confinement", confinement?.text)
        if isFromEntry { record.add("entry", manifest) }
        for (name, value) in environment.sorted(by: { $0.key < $1.key }) {
            record.add("environment", "\(name)=\(value)")
        }
        return record
    }

    init?(saved record: SavedRecord, defaults: Policy) {
        let command = record.all("argument")
        guard !command.isEmpty else { return nil }
        self.init(adHoc: command, user: record["user"].map { User(text: $0) } ?? .daemon, defaults: defaults)
        name = record["name"]
        workingDirectory = record["working-directory"]
        confinement = record["confinement"].map { Confinement(text: $0) }
        manifest = record["entry"]
        isFromEntry = manifest != nil
        for variable in record.all("environment") {
            let parts = variable.halves(around: "=")
            if parts.count == 2 { environment[parts[0]] = parts[1] }
        }
        model = record["like"]
        if record["adopted"] == "1" { self = adopted }
    }
}

extension AppDefinition.User {
    fileprivate var text: String? {
        switch self {
        case .daemon: nil
        case .named(let name): "name:" + name
        case .numbered(let number): "number:\(number)"
        }
    }

    fileprivate init(text: String) {
        let parts = text.halves(around: ":")
        switch (parts.first, parts.last) {
        case ("number", let value?) where UInt32(value) != nil:
            self = UInt32(value).map { .numbered($0) } ?? .named(text)
        case ("name", let value?) where parts.count == 2: self = .named(value)
        // Anything but the daemon's user: no user has such a name, and the launch fails.
        default: self = .named("unreadable:\(text)")
        }
    }
}

extension String {
    /// What is before the first separator and what is behind it. By bytes: a separator and an accent at the beginning of
    /// what follows are one character.
    fileprivate func halves(around separator: Unicode.Scalar) -> [String] {
        utf8.split(separator: UInt8(ascii: separator), maxSplits: 1, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
