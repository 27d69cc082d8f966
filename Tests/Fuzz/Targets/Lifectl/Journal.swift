import ControlAPI

@testable import lifectl

extension FuzzTarget {
    /// Lines of `journalctl -o json`. The daemon's user can write any text under its name.
    static let journal = FuzzTarget("journal") { bytes in
        var input = FuzzInput(bytes)
        var events: [APIHistoryEvent] = []
        let present = TextPresentation(style: Style(isTerminal: false, environment: [:]), now: now)
        while !input.isEmpty {
            let entry = JSON.decode(JournalctlEntry.self, from: Array(input.bytesOfLine()))
            guard let entry = entry?.history else { continue }
            let line = present.history(entry)
            require(!line.unicodeScalars.contains { $0.properties.generalCategory == .control }, "an entry is one line")
            if let event = entry.event { events.append(event) }
        }
        checkPictures(events, present)
    }

    private static let now: Int64 = 1_760_000_000_000_000

    /// A timeline in both ways, and measurements.
    private static func checkPictures(_ events: [APIHistoryEvent], _ present: TextPresentation) {
        let lanes = Lanes(events, start: now - 600_000_000, end: now)
        for lane in lanes.lanes {
            require(lane.spans.allSatisfy { $0.startUSec < $0.endUSec }, "no span is empty or goes back")
            let isWithin = lane.spans.allSatisfy { $0.startUSec >= lanes.startUSec && $0.endUSec <= lanes.endUSec }
            require(isWithin, "spans are within the picture")
        }
        _ = present.timeline(lanes, width: 80)
        let svg = TimelineDrawing(lanes: lanes).text
        require(svg.hasSuffix("</svg>\n"), "a picture has an end")
        let measurements = Statistics(events, start: nil, end: now)
        // Of an app that was there for no time nothing is said but that it has ended.
        let known = measurements.apps.reduce(0) { $0 + $1.ends }
        require(measurements.ends.values.reduce(0, +) >= known, "an app's ends are among all ends")
        _ = present.statistics(measurements)
    }
}
