import Glibc

/// The programs to adopt, and the id for each: an `[[adopt]]` of `lifed.toml`.
public struct AdoptRule: Hashable, Sendable {
    /// A pattern as in glob(7): of the program's path where it has a slash in it, else of its file name.
    public var match: String

    /// A pattern for the arguments, the program's name included, with one space between each; nil for any.
    public var commandLine: String?

    /// The id to run under: that of a manifest, whose policy then holds, or one of its own; nil for one after the program's
    /// name.
    public var id: String?

    /// Returns whether the rule is about such a program.
    ///
    /// - Parameters:
    ///   - executable: The path of the file that the program runs; nil if it is not known, and the name decides.
    ///   - name: The kernel's name of the program.
    ///   - arguments: All arguments, the first included.
    /// - Returns: True if the program, and its arguments where the rule names them, fit the patterns.
    public func matches(executable: String?, name: String, arguments: [String]) -> Bool {
        let subject =
            match.utf8.contains(UInt8(ascii: "/"))
            ? executable : executable?.split(separator: "/").last.map(String.init) ?? name
        guard let subject, Self.fits(subject, match) else { return false }
        return commandLine.map { Self.fits(arguments.joined(separator: " "), $0) } ?? true
    }

    private static func fits(_ text: String, _ pattern: String) -> Bool { Pattern.fits(text, pattern) }
}

/// Patterns as in glob(7).
public enum Pattern {
    /// Returns whether a text fits a pattern.
    ///
    /// - Parameters:
    ///   - text: The text, which must fit as a whole.
    ///   - pattern: A pattern of glob(7), in which a wildcard matches `/`, too.
    /// - Returns: True if fnmatch(3) finds a match.
    public static func fits(_ text: String, _ pattern: String) -> Bool {
        unsafe fnmatch(pattern, text, 0) == 0
    }
}

extension AdoptRule {
    /// The keys of a rule that were read so far.
    fileprivate struct Draft {
        var match: String?
        var commandLine: String?
        var id: String?
    }

    fileprivate static let keys = TableKeys<Draft>(
        of: "adopt",
        [
            Key("match", .pattern, \.match),
            Key("cmdline", .pattern, \.commandLine),
            Key("id", .identifier, \.id),
        ])

    fileprivate init(_ table: [String: TOMLNode]) throws(Mismatch) {
        var draft = Draft()
        try Self.keys.read(table, into: &draft)
        guard let match = draft.match else {
            throw Self.keys.missing("match", #"match = "firefox" or match = "/opt/*/viewer""#)
        }
        self.init(match: match)
        commandLine = draft.commandLine
        id = draft.id
    }
}

extension Kind<[AdoptRule]> {
    static let adoptRules = tables("adopt", atMost: 256) { table throws(Mismatch) in try AdoptRule(table) }
}

extension Kind<String> {
    /// A pattern of glob(7), which has to have something in it that is not for everything.
    static let pattern = Kind(
        #"a pattern of 1 to 1024 bytes that does not fit everything, such as "firefox*""#
    ) { node in
        guard case .string(let text) = node, (1...1024).contains(text.utf8.count), !text.utf8.contains(0) else {
            return nil
        }
        return text.allSatisfy { "*?/".contains($0) } ? nil : text
    }
}

extension Kind<[String]> {
    /// Patterns for the ids of apps.
    static let patterns = Kind { node throws(Mismatch) in
        guard case .array(let elements) = node, elements.count <= 256 else {
            throw Mismatch(expected: #"an array of up to 256 patterns, such as ["org.example.*"]"#, found: node)
        }
        return try readEach(elements, Kind<String>.pattern.read)
    }
}
