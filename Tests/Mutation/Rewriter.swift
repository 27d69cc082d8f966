// Rewrites Swift sources so that each place where a rule can be broken asks whether it is: `rewrite SOURCES TARGET SKIPPED`.
// All mutants are compiled at once, and the environment chooses one (Mutants.swift). Lines stay where they are.
//
// Prints one line for each mutant: its number, file, line, its columns in the rewritten file, what is
// broken. SKIPPED is a file with the numbers of those that do not compile.

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// One mutant, and where it is in the rewritten file.
struct Mutant {
    let id: Int
    let line: Int
    let mutation: String
    var first = (line: 0, column: 0)
    var last = (line: 0, column: 0)
}

/// Writes the file with its sites, and says where each is.
func rewrite(_ source: String, from number: Int, without skipped: Set<Int>) -> (text: String, mutants: [Mutant]) {
    let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
    let finder = SiteFinder(viewMode: .sourceAccurate)
    finder.walk(tree)
    let lines = SourceLocationConverter(fileName: "", tree: tree)

    var mutants: [Mutant] = []
    var insertions: [(offset: Int, order: Int, text: String, length: Int, opens: Int?, closes: Int?)] = []
    var id = number
    for (index, site) in finder.sites.enumerated() {
        let line = lines.location(for: site.start).line
        mutants += site.mutations.enumerated().map { Mutant(id: id + $0, line: line, mutation: $1) }
        defer { id += site.mutations.count }
        if (id..<id + site.mutations.count).contains(where: skipped.contains) { continue }
        // What closes comes before what opens at the same place; of several, the inner one closes first.
        insertions.append((site.start.utf8Offset, 1 + index, site.opening(id), 0, id, nil))
        insertions.append((site.end.utf8Offset, -1 - index, site.closing, 0, nil, id))
        if let replaced = site.replaced {
            let length = replaced.end.utf8Offset - replaced.start.utf8Offset
            insertions.append((replaced.start.utf8Offset, 0, replaced.text, length, nil, nil))
        }
    }
    insertions.sort { ($0.offset, $0.order) < ($1.offset, $1.order) }

    var text: [UInt8] = []
    let bytes = Array(source.utf8)
    var offset = 0
    var position = (line: 1, column: 1)
    func write(_ new: some Sequence<UInt8>) {
        for byte in new {
            text.append(byte)
            position = byte == UInt8(ascii: "\n") ? (position.line + 1, 1) : (position.line, position.column + 1)
        }
    }
    for insertion in insertions {
        write(bytes[offset..<insertion.offset])
        if let opens = insertion.opens, let index = mutants.firstIndex(where: { $0.id == opens }) {
            mutants[index].first = position
        }
        write(insertion.text.utf8)
        if let closes = insertion.closes, let index = mutants.firstIndex(where: { $0.id == closes }) {
            mutants[index].last = position
        }
        offset = insertion.offset + insertion.length
    }
    write(bytes[offset...])
    return (String(decoding: text, as: UTF8.self), mutants)
}

@main struct Rewriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        let (sources, target) = (URL(filePath: arguments[1]), URL(filePath: arguments[2]))
        let skipped = Set(
            try String(contentsOfFile: arguments[3], encoding: .utf8).split(separator: "\n").compactMap { Int($0) })
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path()).filter {
            $0.hasSuffix(".swift")
        }
        var number = 1
        for name in names.sorted() {
            let source = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
            let (text, mutants) = rewrite(source, from: number, without: skipped)
            number += mutants.count
            let file = target.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
            for mutant in mutants {
                let (first, last) = (mutant.first, mutant.last)
                let fields = [
                    "\(mutant.id)", name, "\(mutant.line)", "\(first.line):\(first.column)",
                    "\(last.line):\(last.column)",
                ]
                print((fields + [mutant.mutation]).joined(separator: "\t"))
            }
        }
    }
}
