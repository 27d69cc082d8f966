import Testing
import WindowLines

@testable import Follow

/// The rules by which a window of a compositor is visible.
@Suite struct ScreenTests {
    private static func window(_ number: Int64, on outputs: Set<UInt32> = [1]) -> ScreenWindow {
        ScreenWindow(number: number, place: .outputs(outputs))
    }

    private static func window(_ number: Int64, _ x: Int64, _ y: Int64, _ width: Int64, _ height: Int64) -> ScreenWindow
    {
        ScreenWindow(number: number, place: .rectangle(x: x, y: y, width: width, height: height))
    }

    private func visibilities(_ windows: [ScreenWindow]) -> [WindowLine.Visibility] {
        Screen(windows).line.windows.map(\.visibility)
    }

    @Test func `a window on an output is visible, and each reason against it is told apart`() {
        var minimized = Self.window(1)
        minimized.isMinimized = true
        var elsewhere = Self.window(2)
        elsewhere.isOnOtherWorkspace = true
        var hidden = Self.window(3)
        hidden.isHidden = true
        #expect(
            visibilities([Self.window(0), minimized, elsewhere, hidden, Self.window(4, on: [])])
                == [.visible, .minimized, .workspace, .hidden, .output])
    }

    @Test(arguments: [true, false])
    func `the window with the focus covers the others of its output if it fills it`(
        isFullscreen: Bool
    ) {
        var focused = Self.window(1)
        focused.activated = 1
        let others = [Self.window(2), Self.window(3, on: [2]), Self.window(4, on: [1, 2])]
        #expect(visibilities([focused] + others) == [.visible, .visible, .visible, .visible])
        (focused.isFullscreen, focused.isMaximized) = (isFullscreen, !isFullscreen)
        #expect(visibilities([focused] + others) == [.visible, .covered, .visible, .visible])
        focused.activated = nil
        #expect(visibilities([focused] + others) == [.visible, .visible, .visible, .visible])
    }

    @Test func `a minimised window covers nothing`() {
        var focused = Self.window(1)
        (focused.activated, focused.isMaximized, focused.isMinimized) = (1, true, true)
        #expect(visibilities([focused, Self.window(2)]) == [.minimized, .visible])
    }

    @Test func `a dialog is above its window, and that covers the others`() {
        var main = Self.window(1)
        main.isMaximized = true
        var dialog = Self.window(2)
        dialog.parent = 1
        main.activated = 1
        #expect(visibilities([main, dialog, Self.window(3)]) == [.visible, .visible, .covered])
        (main.activated, dialog.activated) = (nil, 1)
        #expect(visibilities([main, dialog, Self.window(3)]) == [.visible, .visible, .covered])
    }

    @Test func `windows that belong to each other in a circle have an end`() {
        var one = Self.window(1)
        (one.parent, one.activated, one.isMaximized) = (2, 1, true)
        var two = Self.window(2)
        two.parent = 1
        #expect(visibilities([one, two]) == [.visible, .visible])
    }

    @Test func rectangleCoversInnerWindowsUnlessTheyAreKeptAbove() {
        var focused = Self.window(1, 0, 0, 1280, 700)
        (focused.activated, focused.isMaximized) = (1, true)
        var above = Self.window(4, 10, 10, 20, 20)
        above.isKeptAbove = true
        let windows = [
            focused, Self.window(2, 0, 0, 1280, 700), Self.window(3, 1270, 0, 20, 20), above,
            Self.window(5, 1280, 0, 1280, 700), Self.window(6, 0, 0, 0, 0),
            Self.window(7, .init(Int32.max), .init(Int32.min), .init(UInt32.max), .init(UInt32.max)),
        ]
        #expect(
            visibilities(windows) == [.visible, .covered, .visible, .visible, .visible, .output, .visible])
    }

    @Test func `the focus is at the window that was activated last`() {
        var (one, two) = (Self.window(1), Self.window(2))
        (one.activated, two.activated) = (2, 1)
        #expect(Screen([one, two]).line.focus == .window(1))
    }

    @Test func focusIsUnknownOnlyIfAWindowIsVisible() {
        var minimized = Self.window(1)
        minimized.isMinimized = true
        #expect(Screen([]).line.focus == .nothing)
        #expect(Screen([minimized]).line.focus == .nothing)
        // A launcher or a screen locker has the keyboard.
        #expect(Screen([minimized, Self.window(2)]).line.focus == .unknown)
    }
}
