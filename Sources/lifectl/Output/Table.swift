/// Rows of cells in aligned columns, without borders.
struct Table {
    /// A cell's text, and how it is coloured once it is filled up to its column's width.
    struct Cell {
        var text: String
        var paint: (String) -> String = { $0 }

        init(_ text: String, paint: @escaping (String) -> String = { $0 }) {
            self.text = Text.printable(text)
            self.paint = paint
        }
    }

    enum Alignment {
        case leading, trailing
    }

    private let alignments: [Alignment]
    private var rows: [[Cell]]

    init(_ columns: [(String, Alignment)], style: Style) {
        alignments = columns.map(\.1)
        rows = [columns.map { Cell($0.0, paint: style.heading) }]
    }

    mutating func add(_ row: [Cell]) {
        rows.append(row)
    }

    /// The lines of the table, each with its line break.
    var text: String {
        let widths = alignments.indices.map { column in rows.map { $0[column].text.count }.max() ?? 0 }
        return rows.map { line($0, widths) + "\n" }.joined()
    }

    private func line(_ row: [Cell], _ widths: [Int]) -> String {
        let cells = row.indices.map { column in
            let cell = row[column]
            // The last column is not filled up: spaces at the end of a line are in nobody's interest.
            let isLast = column == row.count - 1
            switch alignments[column] {
            case .trailing: return cell.paint(Text.leading(cell.text, width: widths[column]))
            case .leading: return cell.paint(isLast ? cell.text : Text.trailing(cell.text, width: widths[column]))
            }
        }
        return cells.joined(separator: "  ")
    }
}
