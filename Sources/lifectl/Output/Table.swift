/// Rows of cells in aligned columns, without borders.
struct Table {
    /// The heading of a column, and the alignment of its cells.
    struct Column: ExpressibleByStringLiteral {
        let heading: String
        let isTrailing: Bool

        init(stringLiteral heading: String) { (self.heading, isTrailing) = (heading, false) }

        private init(trailing heading: String) { (self.heading, isTrailing) = (heading, true) }

        static func trailing(_ heading: String) -> Column { Column(trailing: heading) }
    }

    /// The text of a cell, and the colours of the text after it was filled up to the width of its column.
    struct Cell {
        let text: String
        let paint: (String) -> String

        static func text(_ text: String, paint: @escaping (String) -> String = { $0 }) -> Cell {
            Cell(text: Text.printable(text), paint: paint)
        }
    }

    private let columns: [Column]
    private var rows: [[Cell]]

    init(_ columns: [Column], style: Style) {
        self.columns = columns
        rows = [columns.map { .text($0.heading, paint: style.heading) }]
    }

    mutating func add(_ row: Cell...) { rows.append(row) }

    mutating func add(_ row: [Cell]) { rows.append(row) }

    /// The lines of the table, each with its line break.
    var text: String {
        let widths = columns.indices.map { column in rows.map { $0[column].text.count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { column in
                let (cell, width) = (row[column], widths[column])
                if columns[column].isTrailing { return cell.paint(Text.leading(cell.text, width: width)) }
                // The last column is not filled up, so that no line ends with spaces.
                return cell.paint(column == row.count - 1 ? cell.text : Text.trailing(cell.text, width: width))
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }
}
