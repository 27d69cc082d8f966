import LifecycleTypes
import Testing

@testable import Desktop

/// The rules by which a window of a compositor is visible.
@Suite struct ScreenTests {
    private static func window(_ number: Int64, on outputs: Set<UInt32> = [1]) -> ScreenWindow {
        ScreenWindow(number: number, place: .outputs(outputs))
    }

    private static func window(_ number: Int64, _ x: Int64, _ y: Int64, _ width: Int64, _ height: Int64) -> ScreenWindow
    {
        ScreenWindow(number: number, place: .rectangle(x: x, y: y, width: width, height: height))
    }

    /// Returns the numbers of the visible windows.
    private func visible(_ windows: [ScreenWindow]) -> [Int64]? {
        Screen(windows).observation.uses[.visible]?.map(\.key.number)
    }

    @Test func `a window on an output is visible unless something is against it`() {
        var minimized = Self.window(1)
        minimized.isMinimized = true
        var elsewhere = Self.window(2)
        elsewhere.isOnOtherWorkspace = true
        var hidden = Self.window(3)
        hidden.isHidden = true
        #expect(
            visible([Self.window(5), minimized, elsewhere, hidden, Self.window(4, on: [])]) == [5])
    }

    @Test(arguments: [true, false])
    func `the window with the focus covers the others of its output if it fills it`(
        isFullscreen: Bool
    ) {
        var focused = Self.window(1)
        focused.activated = 1
        let others = [Self.window(2), Self.window(3, on: [2]), Self.window(4, on: [1, 2])]
        #expect(visible([focused] + others) == [1, 2, 3, 4])
        (focused.isFullscreen, focused.isMaximized) = (isFullscreen, !isFullscreen)
        #expect(visible([focused] + others) == [1, 3, 4])
        focused.activated = nil
        #expect(visible([focused] + others) == [1, 2, 3, 4])
    }

    @Test func `a minimised window covers nothing`() {
        var focused = Self.window(1)
        (focused.activated, focused.isMaximized, focused.isMinimized) = (1, true, true)
        #expect(visible([focused, Self.window(2)]) == [2])
    }

    @Test func `a dialog is above its window, and that covers the others`() {
        var main = Self.window(1)
        main.isMaximized = true
        var dialog = Self.window(2)
        dialog.parent = 1
        main.activated = 1
        #expect(visible([main, dialog, Self.window(3)]) == [1, 2])
        (main.activated, dialog.activated) = (nil, 1)
        #expect(visible([main, dialog, Self.window(3)]) == [1, 2])
    }

    @Test func `windows that belong to each other in a circle have an end`() {
        var one = Self.window(1)
        (one.parent, one.activated, one.isMaximized) = (2, 1, true)
        var two = Self.window(2)
        two.parent = 1
        #expect(visible([one, two]) == [1, 2])
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
        #expect(visible(windows) == [1, 3, 4, 5, 7])
    }

    @Test func `the focus is at the window that was activated last`() {
        var (one, two) = (Self.window(1), Self.window(2))
        (one.activated, two.activated) = (2, 1)
        #expect(Screen([one, two]).observation.focusedItem?.key.number == 1)
    }

    @Test func focusIsUnknownOnlyIfAWindowIsVisible() {
        var minimized = Self.window(1)
        minimized.isMinimized = true
        #expect(Screen([]).observation.focus == .nothing)
        #expect(Screen([minimized]).observation.focus == .nothing)
        // A launcher or a screen locker has the keyboard.
        #expect(Screen([minimized, Self.window(2)]).observation.focus == .unknown)
    }
}
