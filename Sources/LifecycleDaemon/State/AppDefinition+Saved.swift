import LifecycleCore

// An app that somebody started ad hoc is described nowhere else.
extension AppDefinition {
    func saved(_ id: AppID) -> SavedRecord {
        var record = SavedRecord()
        record.add("id", id.name)
        record.add("name", name)
        for word in command { record.add("argument", word) }
        record.add("user", user.text)
        record.add("working-directory", workingDirectory)
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
        for variable in record.all("environment") {
            let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { environment[String(parts[0])] = String(parts[1]) }
        }
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
        let value = String(text.drop { $0 != ":" }.dropFirst())
        if text.hasPrefix("number:"), let number = UInt32(value) {
            self = .numbered(number)
        } else {
            self = text.hasPrefix("name:") ? .named(value) : .daemon
        }
    }
}
