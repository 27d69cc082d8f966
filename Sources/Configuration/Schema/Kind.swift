/// The requirement for the value of a key.
package struct Kind<Value>: Sendable {
    let read: @Sendable (TOMLNode) throws(Mismatch) -> Value

    /// A kind with a message of its own for a wrong value.
    init(read: @escaping @Sendable (TOMLNode) throws(Mismatch) -> Value) {
        self.read = read
    }

    /// A kind of which a value is or is not.
    package init(_ expected: String, _ value: @escaping @Sendable (TOMLNode) -> Value?) {
        read = { node throws(Mismatch) in
            guard let value = value(node) else { throw Mismatch(expected: expected, found: node) }
            return value
        }
    }
}

extension TOMLNode {
    /// The value, if it is a string.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// Returns the elements of an array, each of which must be of the same kind.
    ///
    /// - Parameter read: Returns the value of an element; nil for one of another kind.
    fileprivate func elements<Element>(
        _ expected: String, atMost limit: Int = .max, _ read: (TOMLNode) -> Element?
    ) throws(Mismatch) -> [Element] {
        guard case .array(let elements) = self, elements.count <= limit else {
            throw Mismatch(expected: expected, found: self)
        }
        var values: [Element] = []
        for (index, element) in elements.enumerated() {
            guard let value = read(element) else {
                throw Mismatch(expected: expected, found: element, detail: " as element \(index + 1)")
            }
            values.append(value)
        }
        return values
    }
}

extension Kind<Int> {
    package static func integer(in range: ClosedRange<Int>) -> Kind {
        Kind("an integer from \(range.lowerBound) to \(range.upperBound)") { node in
            guard case .integer(let number) = node, range.contains(number) else { return nil }
            return number
        }
    }
}

extension Kind<Bool> {
    package static let boolean = Kind("true or false") { node in
        guard case .boolean(let value) = node else { return nil }
        return value
    }
}

extension Kind<Duration> {
    /// From nothing to a day; more than that in a life cycle is a slip of the pen.
    static let duration = duration(
        #"from 0s to 1d, such as "5s", "500ms", "1min 30s", or a number of seconds"#, in: .zero ... .seconds(86_400))

    /// The window of a pressure trigger that the kernel accepts: see its document "PSI - Pressure Stall Information".
    static let pressureWindow = duration("from 500ms to 10s", in: .milliseconds(500) ... .seconds(10))

    /// From the least that means something to the kernel, a nanosecond, to what an app would take for a hang.
    static let timerSlack = duration("from 1us to 1s", in: .microseconds(1) ... .seconds(1))

    private static func duration(_ words: String, in range: ClosedRange<Duration>) -> Kind {
        Kind("a duration \(words)") { node in
            let duration: Duration? =
                switch node {
                case .string(let text): DurationText.parse(text)
                case .integer(let seconds) where (0...86_400).contains(seconds): .seconds(seconds)
                case .float(let seconds) where (0...86_400).contains(seconds): .seconds(seconds)
                case .integer, .float, .boolean, .moment, .array, .table: nil
                }
            return duration.flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension Kind<String> {
    package static let identifier = Kind(AppIdentifier.rule) { node in
        guard case .string(let text) = node, AppIdentifier.isValid(text) else { return nil }
        return text
    }

    /// A text to show to a user, on a terminal too.
    static let title = Kind("a string of 1 to 256 characters without control characters") { node in
        guard case .string(let text) = node, (1...256).contains(text.unicodeScalars.count) else { return nil }
        return text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : text
    }

    /// A name that a user can have. The daemon looks it up when it launches the app.
    static let userName = Kind("the name of a user") { node in
        guard case .string(let text) = node, (1...256).contains(text.utf8.count) else { return nil }
        return text.utf8.contains { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
            ? nil : text
    }

    static let absolutePath = Kind("an absolute path (~ and variables are not expanded)") { node in
        guard case .string(let text) = node, text.utf8.first == UInt8(ascii: "/"), text.utf8.count < 4096 else {
            return nil
        }
        return text
    }
}

extension Kind<[String]> {
    /// A program and its arguments.
    static let command = Kind { node throws(Mismatch) in
        guard case .array(let elements) = node, !elements.isEmpty else { throw notAnArray(node, of: "command") }
        let command = try node.elements("an array of strings", \.text)
        guard isProgram(command[0]) else {
            let expected = "a program as the first element, an absolute path or a name to look up in PATH"
            throw Mismatch(expected: expected, found: elements[0])
        }
        return command
    }

    /// A command, or an empty array for none.
    static let terminal = Kind { node throws(Mismatch) in
        guard case .array(let elements) = node else { throw notAnArray(node, of: "terminal") }
        return elements.isEmpty ? [] : try command.read(node)
    }

    private static func notAnArray(_ node: TOMLNode, of key: String) -> Mismatch {
        guard case .string(let line) = node, line.utf8.count <= 256 else {
            return Mismatch(expected: "an array of strings, the program and its arguments", found: node)
        }
        let words = line.split(separator: " ").map { String($0).quoted }.joined(separator: ", ")
        return Mismatch(expected: "an array of strings, which no shell reads: \(key) = [\(words)]", found: node)
    }

    private static func isProgram(_ text: String) -> Bool {
        !text.isEmpty && (text.hasPrefix("/") || !text.contains("/"))
    }
}

extension Kind<[String: String]> {
    /// Variables by name.
    static let environment = Kind { node throws(Mismatch) in
        guard case .table(let table) = node else {
            throw Mismatch(expected: #"a table of strings, { NAME = "value" }"#, found: node)
        }
        var environment: [String: String] = [:]
        for (name, value) in table.sorted(by: { $0.key < $1.key }) {
            guard isVariableName(name) else {
                let rule = "a variable's name is letters, digits and _, and starts with no digit"
                throw Mismatch(
                    at: [name], message: "cannot use environment: \(name.quoted) cannot be a variable; \(rule)")
            }
            guard case .string(let text) = value else { throw Mismatch(at: [name], expected: "a string", found: value) }
            environment[name] = text
        }
        return environment
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !first.isDigit else { return false }
        return name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}

extension Kind where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// One word of a list.
    package static var choice: Kind {
        let words = Value.allCases.map { $0.rawValue.quoted }.joined(separator: " or ")
        return Kind(words) { node in
            guard case .string(let word) = node else { return nil }
            return Value(rawValue: word)
        }
    }
}

extension Kind<Set<String>> {
    /// Words of a list that is open: which of them mean something is not known here.
    static let words = Kind(#"an array of words of a-z, 0-9 and -, such as ["audio", "location"]"#) { node in
        guard case .array(let elements) = node, elements.count <= 64 else { return nil }
        var words: Set<String> = []
        for element in elements {
            guard case .string(let word) = element, isWord(word) else { return nil }
            words.insert(word)
        }
        return words
    }

    static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isDigit || byte == UInt8(ascii: "-")
            }
    }
}

extension Kind<Set<Capability>> {
    /// The most that an app may have of the capabilities.
    static let capabilities = Kind { node throws(Mismatch) in
        let expected = #"an array of capabilities of capabilities(7), such as ["CAP_NET_BIND_SERVICE"]"#
        return Set(try node.elements(expected) { $0.text.flatMap(Capability.init) })
    }
}

extension Kind<Set<String>> {
    /// The schemes that an app opens: RFC 3986, section 3.1. Case does not matter.
    static let schemes = lowercased(
        #"an array of URL schemes without the colon, such as ["http", "https"]"#, where: isScheme)

    /// The media types that an app opens: RFC 6838, section 4.2. Case does not matter.
    static let mimeTypes = lowercased(
        #"an array of media types, such as ["text/plain", "image/*"]"#, where: MediaType.isValid)

    private static func lowercased(_ expected: String, where fits: @escaping @Sendable (String) -> Bool) -> Kind {
        texts(expected, limit: 256, where: fits) { $0.lowercased() }
    }

    /// The last parts of the paths of programs.
    static let programNames = texts(
        #"an array of up to 64 names of program files, such as ["dbus-daemon"]"#, limit: 64
    ) { name in
        !name.isEmpty && name.utf8.count <= 255 && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }

    /// Names that groups can have in group(5), or in another database: "Domain Admins", "CORP\admins".
    static let groupNames = texts(#"an array of up to 64 names of groups, such as ["wheel"]"#, limit: 64) { name in
        !name.isEmpty && name.utf8.count <= 256
            && !name.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: ":") }
    }

    private static func texts(
        _ expected: String, limit: Int, where fits: @escaping @Sendable (String) -> Bool,
        as form: @escaping @Sendable (String) -> String = { $0 }
    ) -> Kind {
        Kind { node throws(Mismatch) in
            Set(try node.elements(expected, atMost: limit) { $0.text.flatMap { fits($0) ? form($0) : nil } })
        }
    }

    static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, first.isLetter, text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }
}

extension Kind<[String: String]> {
    /// Which app opens what several could.
    static let defaultApps = Kind { node throws(Mismatch) in
        guard case .table(let table) = node else {
            throw Mismatch(expected: #"a table of apps, { https = "org.example.browser" }"#, found: node)
        }
        var apps: [String: String] = [:]
        for (name, value) in table.sorted(by: { $0.key < $1.key }) {
            guard Kind<Set<String>>.isScheme(name) || MediaType.isValid(name) else {
                throw Mismatch(
                    at: [name],
                    message:
                        "cannot use defaults: \(name.quoted) is neither a URL scheme nor a media type; expected one")
            }
            guard case .string(let id) = value, AppIdentifier.isValid(id) else {
                throw Mismatch(at: [name], expected: "the id of an app", found: value)
            }
            apps[name.lowercased()] = id
        }
        return apps
    }
}

extension Kind {
    /// Returns the word "own" for what an app has by itself, or a value.
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
        case .float, .boolean, .moment, .array, .table: nil
        }
    }
}

extension Kind<DaemonSettings.Resources.IOPriority> {
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

extension Kind<DaemonSettings.ProcessLimit> {
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
        case .float, .boolean, .moment, .array, .table: return nil
        }
    }
}

extension Kind<[String]> {
    /// Files and directories, each written without needless slashes.
    static let paths = Kind { node throws(Mismatch) in
        let expected = #"an array of absolute paths without "..", such as ["/var/lib/kiosk"]"#
        return try node.elements(expected, atMost: 64) { element in
            guard let path = element.text, path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0),
                case let parts = path.split(separator: "/"), !parts.contains("..")
            else { return nil }
            return "/" + parts.joined(separator: "/")
        }
    }
}
