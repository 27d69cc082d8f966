import LifecycleTypes

/// A window, as a compositor tells it.
struct ScreenWindow: Equatable {
    let number: Int64
    var process: Int64?
    var appID = ""
    var title = ""
    /// The window that this one belongs to, as a dialog does.
    var parent: Int64?
    /// The time of its last activation, on any scale; nil if it is not activated.
    var activated: UInt64?
    var isMinimized = false
    var isMaximized = false
    var isFullscreen = false
    /// A Boolean value that indicates whether it stays above windows with the focus.
    var isKeptAbove = false
    /// A Boolean value that indicates whether it is on no workspace that is shown.
    var isOnOtherWorkspace = false
    /// A Boolean value that indicates whether the compositor does not show it for another reason.
    var isHidden = false
    var place = Area.outputs([])

    /// The place on the screen.
    enum Area: Equatable {
        case outputs(Set<UInt32>)
        case rectangle(x: Int64, y: Int64, width: Int64, height: Int64)

        /// A Boolean value that indicates whether it is on no output.
        var isEmpty: Bool {
            switch self {
            case .outputs(let outputs): outputs.isEmpty
            case .rectangle(_, _, let width, let height): width <= 0 || height <= 0
            }
        }

        /// Returns whether a window that fills this place covers the other place.
        func covers(_ other: Area) -> Bool {
            switch (self, other) {
            case (.outputs(let own), .outputs(let others)): others.isSubset(of: own)
            case (.rectangle(let x, let y, let width, let height), .rectangle(let u, let v, let w, let h)):
                x <= u && y <= v && u + w <= x + width && v + h <= y + height
            case (.outputs, .rectangle), (.rectangle, .outputs): false
            }
        }
    }

    /// No Wayland protocol has the process of a window from the kernel for sure.
    fileprivate var item: Item {
        Item(number: number, process: process, isAttested: false, appID: appID, title: title)
    }

    fileprivate var fillsItsOutput: Bool { (isMaximized || isFullscreen) && !isMinimized }
}

/// The order in which the windows of a screen are activated.
struct ActivationOrder {
    private var last: UInt64 = 0

    /// Sets whether a window is activated. A window that stays activated keeps its place.
    mutating func setActivated(_ isActivated: Bool, of window: inout ScreenWindow) {
        if !isActivated {
            window.activated = nil
        } else if window.activated == nil {
            last += 1
            window.activated = last
        }
    }
}

/// The windows of a screen at one moment, and the rules by which they are visible.
///
/// A window counts as visible if it is not minimised, its workspace is shown and it is on an output, unless the focused window is
/// maximised or fullscreen and covers it. No protocol tells of other covers, so a covered window can count as visible.
struct Screen {
    private let windows: [ScreenWindow]
    private let byNumber: [Int64: ScreenWindow]

    init(_ windows: [ScreenWindow]) {
        self.windows = windows
        byNumber = Dictionary(windows.map { ($0.number, $0) }) { first, _ in first }
    }

    var observation: Observation {
        let covers = covers
        let visible = windows.filter { isVisible($0, under: covers) }
        var observation = Observation(uses: [.visible: visible.prefix(Observation.limit).map(\.item)])
        if let focused {
            observation.focus = .item(focused.item)
        } else {
            // A launcher, a panel or a screen locker may have the keyboard beside visible windows.
            observation.focus = visible.isEmpty ? .nothing : .unknown
        }
        return observation
    }

    /// The window with the focus: of several, one for each seat, the last one.
    private var focused: ScreenWindow? {
        windows.filter { $0.activated != nil }.max { $0.activated ?? 0 < $1.activated ?? 0 }
    }

    /// The windows that fill their outputs above all others: the one with the focus, or the window of a dialog with it.
    private var covers: [ScreenWindow] {
        guard let focused else { return [] }
        return lineage(of: focused).filter(\.fillsItsOutput)
    }

    /// The number of windows that can belong to each other. A loop of them has no end.
    private static let depth = 16

    /// Returns a window, its parent, and so on.
    private func lineage(of window: ScreenWindow) -> [ScreenWindow] {
        var lineage = [window]
        while lineage.count < Self.depth, let parent = lineage.last?.parent.flatMap({ byNumber[$0] }) {
            lineage.append(parent)
        }
        return lineage
    }

    private func isVisible(_ window: ScreenWindow, under covers: [ScreenWindow]) -> Bool {
        if window.isMinimized || window.isOnOtherWorkspace || window.isHidden || window.place.isEmpty { return false }
        return !covers.contains { cover in
            // The dialogs of a window are above it.
            cover.place.covers(window.place) && !window.isKeptAbove
                && !lineage(of: window).contains { $0.number == cover.number }
        }
    }
}
