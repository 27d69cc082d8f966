/// The known word that a misspelt one stands for.
package enum Spelling {
    /// Returns the known word that is most like a misspelt one.
    ///
    /// - Parameters:
    ///   - word: The misspelt word.
    ///   - known: The known words.
    ///   - letters: Returns the letters of a word that count.
    /// - Returns: The first of the words with the fewest mistakes; nil if each has more than one in three letters.
    package static func nearest<Letter: Equatable>(
        to word: String, among known: [String], letters: (String) -> [Letter]
    ) -> String? {
        let misspelt = letters(word)
        let limit = max(1, misspelt.count / 3)
        let ranked = known.compactMap { candidate -> (word: String, mistakes: Int)? in
            let right = letters(candidate)
            // Each letter more or less is a mistake: there is no need to look for others.
            guard abs(right.count - misspelt.count) <= limit else { return nil }
            return (candidate, mistakes(in: misspelt, for: right))
        }
        guard let best = ranked.min(by: { $0.mistakes < $1.mistakes }) else { return nil }
        return best.mistakes <= limit ? best.word : nil
    }

    /// Returns how many letters are missing, superfluous, other ones or swapped with the next.
    private static func mistakes<Letter: Equatable>(in word: [Letter], for right: [Letter]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, letter) in word.enumerated() {
            var row = [i + 1]
            for j in right.indices {
                row.append(min(rows[i][j] + (letter == right[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1))
                if i > 0, j > 0, letter == right[j - 1], word[i - 1] == right[j] {
                    row[j + 1] = min(row[j + 1], rows[i - 1][j - 1] + 1)
                }
            }
            rows.append(row)
        }
        return rows[word.count][right.count]
    }
}
