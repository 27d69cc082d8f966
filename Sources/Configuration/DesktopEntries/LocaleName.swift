/// The language of the person who reads: `lang_COUNTRY.ENCODING@MODIFIER`, as in setlocale(3).
public struct LocaleName: Hashable, Sendable {
    /// What to look for in a desktop entry, the best first: Desktop Entry Specification 1.5, section 5.
    let matches: [String]

    /// Takes a locale's name apart; that of nobody, C and POSIX have nothing to look for.
    public init(_ name: String) {
        let bytes = Array(name.utf8)
        let isName =
            !bytes.isEmpty && bytes.count <= 64
            && bytes.allSatisfy { $0.isLetterOrDigit || "_.@-".utf8.contains($0) }
        guard isName, name != "C", name != "POSIX", !bytes.starts(with: "C.".utf8) else {
            matches = []
            return
        }
        let (rest, modifier) = Self.halves(of: bytes[...], at: UInt8(ascii: "@"))
        let (place, _) = Self.halves(of: rest, at: UInt8(ascii: "."))
        let (language, country) = Self.halves(of: place, at: UInt8(ascii: "_"))
        let text = String(decoding: language, as: UTF8.self)
        let withCountry = country.map { "\(text)_\(String(decoding: $0, as: UTF8.self))" }
        let behind = modifier.map { "@\(String(decoding: $0, as: UTF8.self))" }
        matches = [
            withCountry.flatMap { name in behind.map { name + $0 } }, withCountry, behind.map { text + $0 }, text,
        ].compactMap { $0 }
    }

    /// The one that texts are in, for a process with these variables.
    public init(environment: [String: String]) {
        let names = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }
        self.init(names.first { !$0.isEmpty } ?? "")
    }

    private static func halves(
        of bytes: ArraySlice<UInt8>, at separator: UInt8
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>?) {
        guard let place = bytes.firstIndex(of: separator) else { return (bytes, nil) }
        return (bytes[..<place], bytes[(place + 1)...])
    }
}
