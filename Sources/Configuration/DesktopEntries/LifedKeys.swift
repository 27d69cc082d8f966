/// The keys that an entry can have for lifed: `X-Lifed-BackgroundModes` is what `backgroundModes` is in a manifest.
enum LifedKeys {
    static let prefix = "X-Lifed-"

    /// Takes every valid key over; a problem with one key concerns that key alone.
    static func apply(_ file: DesktopEntryFile, of path: String, to entry: inout DesktopEntry) {
        var omitted = 0
        for name in file.keys(withPrefix: prefix) {
            do throws(Defect) {
                try set(name, from: file, in: &entry.manifest)
            } catch {
                guard entry.problems.count < Schema<Manifest>.problemLimit else {
                    omitted += 1
                    continue
                }
                entry.problems.append(Problem(error, of: path))
            }
        }
        if omitted > 0 { entry.problems.append(ProblemList.notice(of: omitted, in: path)) }
    }

    private static func set(
        _ name: String, from file: DesktopEntryFile, in manifest: inout Manifest
    ) throws(Defect) {
        let key = key(named: name)
        let line: Int?
        do throws(Defect) {
            line = try file.value(named: name)?.line
        } catch {
            // An unknown key may have any length.
            throw Defect(line: error.line, message: key == nil ? unknown(name) : "cannot use a key: \(error.message)")
        }
        do throws(Mismatch) {
            guard let key else { throw Mismatch(message: unknown(name)) }
            try read(values(of: name, in: file), for: key, &manifest)
        } catch {
            throw Defect(line: line, message: error.named(name).message)
        }
    }

    private static func key(named name: String) -> Key<Manifest>? {
        var bytes = Array(name.utf8.dropFirst(prefix.utf8.count))
        guard let first = bytes.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return nil }
        bytes[0] = first | 0x20
        let own = String(decoding: bytes, as: UTF8.self)
        guard Manifest.entryKeys.contains(own) else { return nil }
        return Manifest.schema.keys.first { $0.path == [own] }
    }

    private static func unknown(_ name: String) -> String {
        let known = Manifest.entryKeys.map { prefix + $0.prefix(1).uppercased() + $0.dropFirst() }.sorted()
        let hint = Suggestion.hint(Suggestion.forUnknown(name, among: known), otherwise: "ignoring it")
        return "cannot use \(name.quoted): unknown key\(hint)"
    }

    /// Returns the possible values in a manifest for a text: an entry has texts alone.
    private static func values(of name: String, in file: DesktopEntryFile) -> [TOMLNode] {
        let text = (try? file.string(named: name)) ?? ""
        var values: [TOMLNode] = [.string(text)]
        if let number = Int(text) { values.append(.integer(number)) }
        if let value = Bool(text) { values.append(.boolean(value)) }
        values.append(.array(((try? file.strings(named: name)) ?? []).map { .string($0) }))
        return values
    }

    /// Takes the first value that is of the right kind.
    private static func read(
        _ values: [TOMLNode], for key: Key<Manifest>, _ manifest: inout Manifest
    ) throws(Mismatch) {
        var first: Mismatch?
        for value in values {
            do throws(Mismatch) {
                return try key.read(value, &manifest)
            } catch {
                first = first ?? error
            }
        }
        if let first { throw first }
    }
}
