import ControlAPI
import LifecycleTypes

/// A timeline as an SVG picture. Each span and mark has a title, which a browser shows.
struct TimelineDrawing {
    let lanes: Lanes

    private static let width = 1200.0
    private static let laneHeight = 34.0
    private static let top = 56.0

    /// The average width of a character, at most, in the system fonts of browsers.
    private static let characterWidth = 8.0
    /// The length of an id beside a lane.
    private static let nameLimit = 36

    private var margin: Double {
        let longest = lanes.lanes.map { $0.app.count }.max() ?? 0
        return 24 + Self.characterWidth * Double(min(longest, Self.nameLimit))
    }

    private func x(_ time: Int64) -> Double {
        let share = Double(time - lanes.startUSec) / Double(max(1, lanes.endUSec - lanes.startUSec))
        return margin + share * (Self.width - margin - 24)
    }

    /// The whole file.
    var text: String {
        let height = Self.top + Self.laneHeight * Double(lanes.lanes.count) + 56
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(n(Self.width)) \(n(height))" \
            font-family="system-ui, sans-serif" font-size="13">
            <title>lifed: \(escaped(Instants.date(lanes.startUSec))) to \(escaped(Instants.date(lanes.endUSec)))</title>
            <rect width="100%" height="100%" fill="#ffffff"/>

            """
        svg += axis(height: height)
        for (row, lane) in lanes.lanes.enumerated() { svg += drawing(lane, Self.top + Self.laneHeight * Double(row)) }
        return svg + legend(height - 24) + "</svg>\n"
    }

    private func axis(height: Double) -> String {
        let length = lanes.endUSec - lanes.startUSec
        let step = Self.step(for: length)
        var svg = "<text x=\"12\" y=\"20\" fill=\"#444\">\(escaped(Instants.date(lanes.startUSec)))</text>\n"
        var time = (lanes.startUSec / step + 1) * step
        while time <= lanes.endUSec {
            let x = n(x(time))
            svg += "<line x1=\"\(x)\" y1=\"40\" x2=\"\(x)\" y2=\"\(n(height - 48))\" stroke=\"#ddd\"/>"
            svg += "<text x=\"\(x)\" y=\"36\" text-anchor=\"middle\" fill=\"#666\" font-size=\"11\">"
            svg += step < 1_000_000 ? Instants.timeOfDay(time) : Instants.label(time, scale: length)
            svg += "</text>\n"
            time += step
        }
        return svg
    }

    /// Returns a round step of time for at most ten lines.
    private static func step(for length: Int64) -> Int64 {
        let seconds: [Int64] = [
            1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
        ]
        let fractions: [Int64] = [1000, 5000, 10_000, 50_000, 100_000, 500_000]
        let steps = fractions + seconds.map { $0 * 1_000_000 }
        return steps.first { length / $0 <= 10 } ?? max(86_400_000_000, length / 10)
    }

    private func drawing(_ lane: Lane, _ y: Double) -> String {
        var svg = "<text x=\"12\" y=\"\(n(y + 17))\" fill=\"#222\">\(escaped(Self.shortened(lane.app)))"
        svg += "<title>\(escaped(lane.app))</title></text>\n"
        for span in lane.spans {
            let width = max(0.5, x(span.endUSec) - x(span.startUSec))
            svg += "<rect x=\"\(n(x(span.startUSec)))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"24\" "
            svg += "fill=\"\(Self.colour(span.state))\"><title>\(escaped(title(span)))</title></rect>\n"
        }
        for mark in lane.marks {
            svg += "<g>\(shape(mark.kind, x(mark.timeUSec), y + 12))"
            svg += "<title>\(escaped("\(Instants.timeOfDay(mark.timeUSec)) \(mark.note)"))</title></g>\n"
        }
        return svg
    }

    private static func shortened(_ name: String) -> String {
        name.count <= nameLimit ? name : name.prefix(nameLimit - 1) + "…"
    }

    /// Returns the shape of a mark around a point. The shapes stand out from the colours of all states.
    private func shape(_ kind: MarkKind, _ x: Double, _ y: Double) -> String {
        switch kind {
        case .answered:
            "<circle cx=\"\(n(x))\" cy=\"\(n(y))\" r=\"3.5\" fill=\"#ffffff\" stroke=\"#222222\" stroke-width=\"1.5\"/>"
        case .unanswered:
            "<path d=\"M\(n(x)) \(n(y - 8))l8 14h-16z\" fill=\"#d55e00\" stroke=\"#ffffff\"/>"
        case .killed:
            "<path d=\"M\(n(x - 5)) \(n(y - 5))l10 10m0 -10l-10 10\" stroke=\"#c00000\" stroke-width=\"3.5\"/>"
        }
    }

    private func title(_ span: StateSpan) -> String {
        let reason = span.reason.map { " (\($0.rawValue))" } ?? ""
        return "\(span.state.rawValue)\(reason), \(Instants.age(span.endUSec - span.startUSec)) "
            + "from \(Instants.timeOfDay(span.startUSec))"
    }

    private func legend(_ y: Double) -> String {
        let states: [AppState] = [.active, .inactive, .background, .suspended, .terminating]
        let marks: [(kind: MarkKind, words: String)] = [
            (.answered, "callback answered"), (.unanswered, "no answer"), (.killed, "killed"),
        ]
        let words = states.map { $0.rawValue } + marks.map { $0.words }
        let width = words.reduce(0) { $0 + Self.legendWidth($1) }
        // Below the lanes, unless long names leave too little room there.
        var x = max(12, min(margin, Self.width - width))
        var svg = ""
        for state in states {
            svg += "<rect x=\"\(n(x))\" y=\"\(n(y - 11))\" width=\"14\" height=\"14\" fill=\"\(Self.colour(state))\"/>"
            svg += "<text x=\"\(n(x + 20))\" y=\"\(n(y))\" fill=\"#444\">\(state.rawValue)</text>\n"
            x += Self.legendWidth(state.rawValue)
        }
        for mark in marks {
            svg += shape(mark.kind, x + 7, y - 4)
            svg += "<text x=\"\(n(x + 20))\" y=\"\(n(y))\" fill=\"#444\">\(mark.words)</text>\n"
            x += Self.legendWidth(mark.words)
        }
        return svg
    }

    /// Returns the width of a word of the legend, with its sign and margin.
    private static func legendWidth(_ words: String) -> Double { 38 + characterWidth * Double(words.count) }

    /// Returns the colour of a state, from the palette of Okabe and Ito, which suits any kind of colour vision.
    private static func colour(_ state: AppState) -> String {
        switch state {
        case .active: "#009e73"
        case .inactive: "#f0e442"
        case .background: "#56b4e9"
        case .suspended: "#c3cbd6"
        case .terminating: "#e69f00"
        case .notRunning: "none"
        }
    }

    /// Returns a coordinate with one decimal.
    private func n(_ value: Double) -> String {
        // The library's function calls libm.
        let tenths = Int64(value * 10 + (value < 0 ? -0.5 : 0.5))
        return "\(tenths / 10)" + (tenths % 10 == 0 ? "" : ".\(abs(tenths % 10))")
    }

    private func escaped(_ text: String) -> String { Escaping.xml(text) }
}
