/// What a person probably meant by a word that is not known.
enum Suggestion {
    /// The candidate nearest to `word`, if one is near enough to be worth naming.
    static func forUnknown(_ word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= 64 else { return nil }
        let folded = fold(word)
        let limit = max(1, folded.count / 3)
        let ranked = candidates.compactMap { candidate -> (candidate: String, distance: Int)? in
            let other = fold(candidate)
            // Each letter more or less counts: there is no need to compare them.
            guard abs(other.count - folded.count) <= limit else { return nil }
            return (candidate, distance(from: folded, to: other))
        }
        guard let nearest = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= limit ? nearest.candidate : nil
    }

    /// The right key in the wrong table: the candidate whose last part is that of `word`.
    static func forMisplaced(_ word: String, among candidates: [String]) -> String? {
        let last = lastPart(of: word)
        return candidates.first { lastPart(of: $0) == last }
    }

    private static func lastPart(of key: String) -> Substring {
        key.split(separator: ".").last ?? ""
    }

    /// `front_limit`, `front-limit` and `FrontLimit` are all one mistake.
    private static func fold(_ word: String) -> [Character] {
        word.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// How many letters must be inserted, removed or replaced (Levenshtein).
    private static func distance(from word: [Character], to other: [Character]) -> Int {
        var previous = Array(0...other.count)
        for (row, letter) in word.enumerated() {
            var current = [row + 1]
            for (column, otherLetter) in other.enumerated() {
                let replaced = previous[column] + (letter == otherLetter ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous.last ?? 0
    }
}
