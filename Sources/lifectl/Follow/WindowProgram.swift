import ControlAPI
import Glibc
import LifecycleTypes
import WindowLines

/// A screen that lifed-follow sees, which is linked to the libraries of screens and writes a ``WindowLine`` after each change.
final class WindowProgram: Source {
    /// The screens that the program follows, by its argument.
    enum TopScreen: String {
        case gnome, wayland, x11

        /// A Boolean value that indicates whether the lines tell which window the pointer is over.
        fileprivate var tellsPointer: Bool {
            switch self {
            case .gnome: true
            case .wayland, .x11: false
            }
        }
    }

    private static let programName = "lifed-follow"

    let name: String
    private let screen: TopScreen
    private let program: LineProgram

    init(_ screen: TopScreen) throws(Failure) {
        let action = "cannot follow \(screen.rawValue)"
        guard let path = Self.path else {
            throw Failure(
                .unavailable, action, "\(Self.programName) is not installed",
                remedy: "install libwayland-dev and libxcb-res0-dev, and build lifed again")
        }
        self.screen = screen
        name =
            switch screen {
            case .gnome: "GNOME Shell"
            case .wayland: "the Wayland compositor"
            case .x11: "the X server"
            }
        program = try LineProgram([path, screen.rawValue], doing: action)
    }

    /// The path of the program: beside lifectl in the build directory, otherwise in its installed place.
    private static var path: String? {
        let own = Environment.programDirectory ?? "/usr/bin"
        return ["\(own)/\(programName)", "\(own)/../lib/lifed/\(programName)"].first { unsafe access($0, X_OK) == 0 }
    }

    var descriptor: CInt { program.descriptor }

    var isReady: Bool { program.hasMore }

    func read() throws(SourceLost) -> Observation? {
        guard let text = program.newestLine() else { throw SourceLost(complaint: program.complaint) }
        guard let line = WindowLine(text) else {
            throw SourceLost(reason: "\(Self.programName) says what is not understood")
        }
        return Observation(line, tellsPointer: screen.tellsPointer)
    }
}

extension Observation {
    /// The focus and the visible windows of a line, and the one that the pointer is over if the source tells.
    init(_ line: WindowLine, tellsPointer: Bool = false) {
        self.init()
        if tellsPointer { uses[.pointed] = line.windows.filter { $0.isPointed }.map { Item($0) } }
        uses[.visible] = line.windows.filter { $0.visibility == .visible }.map { Item($0) }
        switch line.focus {
        case .unknown: focus = .unknown
        case .nothing: focus = .nothing
        case .window(let number):
            // A window that has just gone is not in the list; another line follows.
            focus = line.windows.first { $0.number == number }.map { .item(Item($0)) } ?? .unknown
        }
    }
}

extension Item {
    init(_ window: WindowLine.Window) {
        self.init(
            number: window.number, process: window.process, isAttested: window.isAttested, appID: window.appID,
            title: window.title)
    }
}
