/// The windows of a screen at one moment, as a line of text from a window source to `lifectl follow`, which ignores further fields.
///
/// A source writes a line at its start, and after each change but of titles alone, until its reader or the screen has gone. It may leave
/// out all lines but the newest. In `APPID` and `TITLE`, each byte but letters and digits of ASCII is percent-encoded.
///
/// ```
/// FOCUS[ NUMBER:PROCESS:APPID:VISIBILITY:TITLE[:pointed]]...
/// ```
///
/// | field | value |
/// |---|---|
/// | `FOCUS` | the number of the window with the focus; `0` if no window has it; `-` if the source cannot tell |
/// | `NUMBER` | a positive number that no other window of this run has |
/// | `PROCESS` | the process id; `0` if it is not known; a `?` after it if it is the client's word |
/// | `APPID` | the app id (`app_id`, the class in `WM_CLASS`), always the client's word; empty if there is none |
/// | `VISIBILITY` | a word of ``Visibility`` |
/// | `TITLE` | the title |
/// | `pointed` | the pointer is over the window; only from a source that can tell |
public struct WindowLine: Equatable, Sendable {
    /// The window with the focus.
    public enum Focus: Equatable, Sendable {
        /// The source cannot see the focus, or something that is no window has it, as a screen locker.
        case unknown
        /// No window has the focus.
        case nothing
        /// The window of this number. It may have gone, and another line follows then.
        case window(Int64)
    }

    /// The focus of the screen.
    public var focus = Focus.unknown
    /// The windows, visible or not.
    public var windows: [Window] = []

    /// The number of windows that one source may have, so that a broken screen has an end.
    public static let windowLimit = 4096

    /// The length that an app id and a title may have, in bytes. The rest is cut off.
    public static let textLimit = 256

    /// Creates a line.
    ///
    /// - Parameters:
    ///   - focus: The focus of the screen.
    ///   - windows: The windows, visible or not; at most ``windowLimit`` are valid.
    public init(focus: Focus = .unknown, windows: [Window] = []) {
        self.focus = focus
        self.windows = windows
    }
}

extension WindowLine {
    /// A window of a screen.
    public struct Window: Equatable, Sendable {
        /// The number, which no other window of this run has.
        public let number: Int64
        /// The process of the window; nil if the source does not know it.
        public let process: Int64?
        /// A Boolean value that indicates whether the source has the process from the kernel. Otherwise it is the word of a
        /// client, which can name a process of another program.
        public let isAttested: Bool
        /// The app id, by the word of the client; empty if there is none.
        public let appID: String
        /// The place on the screen, or off it.
        public let visibility: Visibility
        /// The title, by the word of the client.
        public let title: String
        /// A Boolean value that indicates whether the pointer is over the window.
        public let isPointed: Bool

        /// Creates a window.
        ///
        /// - Parameters:
        ///   - number: A positive number that no other window of this run has.
        ///   - process: The process of the window; nil, or a number that is not positive, if it is not known.
        ///   - isAttested: A Boolean value that indicates whether the source has the process from the kernel.
        ///   - appID: The app id, by the word of the client; cut off at ``WindowLine/textLimit``.
        ///   - visibility: The place on the screen, or off it.
        ///   - title: The title, by the word of the client; cut off at ``WindowLine/textLimit``.
        ///   - isPointed: A Boolean value that indicates whether the pointer is over the window.
        public init(
            number: Int64, process: Int64? = nil, isAttested: Bool = false, appID: String = "",
            visibility: Visibility = .visible, title: String = "", isPointed: Bool = false
        ) {
            self.number = number
            self.process = process.flatMap { $0 > 0 ? $0 : nil }
            self.isAttested = isAttested && self.process != nil
            self.appID = PercentText.beginning(of: appID, length: textLimit)
            self.visibility = visibility
            self.title = PercentText.beginning(of: title, length: textLimit)
            self.isPointed = isPointed
        }
    }

    /// The place of a window: on the screen, or the reason why it is not.
    public enum Visibility: String, Sendable, CaseIterable {
        case visible
        /// The user has minimised it.
        case minimized
        /// It is on a workspace or a virtual desktop that no output shows.
        case workspace
        /// It is on no output.
        case output
        /// A maximised or fullscreen window covers it.
        case covered
        /// It is not shown, for a reason that the source does not know.
        case hidden
    }
}

// MARK: - Text

extension WindowLine {
    /// The bytes of the line, with its end.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        switch focus {
        case .unknown: bytes.append(UInt8(ascii: "-"))
        case .nothing: bytes.append(UInt8(ascii: "0"))
        case .window(let number): bytes += Array(String(number).utf8)
        }
        for window in windows { window.append(to: &bytes) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// Reads a line, with or without its end.
    ///
    /// - Returns: nil for a text that is no line of a source.
    public init?(_ text: String) {
        var bytes = Array(text.utf8)[...]
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        var words = bytes.split(separator: UInt8(ascii: " "))[...]
        guard let head = words.popFirst() else { return nil }
        switch String(decoding: head, as: UTF8.self) {
        case "-": focus = .unknown
        case "0": focus = .nothing
        case let number:
            guard let number = Int64(number), number > 0 else { return nil }
            focus = .window(number)
        }
        for word in words.prefix(Self.windowLimit) {
            guard let window = Window(word) else { return nil }
            windows.append(window)
        }
    }
}

extension WindowLine.Window {
    fileprivate func append(to bytes: inout [UInt8]) {
        let claim = process == nil || isAttested ? "" : "?"
        bytes += Array(" \(number):\(process ?? 0)\(claim):".utf8)
        PercentText.append(appID, to: &bytes)
        bytes += Array(":\(visibility.rawValue):".utf8)
        PercentText.append(title, to: &bytes)
        if isPointed { bytes += Array(":\(Self.pointedWord)".utf8) }
    }

    private static let pointedWord = "pointed"

    fileprivate init?(_ word: ArraySlice<UInt8>) {
        let fields = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard fields.count >= 5 else { return nil }
        let isClaim = fields[1].last == UInt8(ascii: "?")
        guard let number = Int64(String(decoding: fields[0], as: UTF8.self)),
            let process = Int64(String(decoding: isClaim ? fields[1].dropLast() : fields[1], as: UTF8.self)),
            let visibility = WindowLine.Visibility(rawValue: String(decoding: fields[3], as: UTF8.self))
        else { return nil }
        self.init(
            number: number, process: process, isAttested: !isClaim, appID: PercentText.decoded(fields[2]),
            visibility: visibility, title: PercentText.decoded(fields[4]),
            isPointed: fields.dropFirst(5).contains { $0.elementsEqual(Self.pointedWord.utf8) })
    }
}

/// Texts of any bytes within a line.
enum PercentText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the part of a text that has so many bytes at most, in whole scalars.
    static func beginning(of text: String, length: Int) -> String {
        guard text.utf8.count > length else { return text }
        var end = text.utf8.index(text.startIndex, offsetBy: length)
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }

    /// Returns the text. A percent sign without two digits stands for itself, and bytes that are not UTF-8 are replaced.
    static func decoded(_ bytes: ArraySlice<UInt8>) -> String {
        var found: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isDigit),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                found.append(value)
                rest = rest.dropFirst(2)
            } else {
                found.append(byte)
            }
        }
        return String(decoding: found, as: UTF8.self)
    }

    /// Returns whether a character is no sign, which UInt8 would read, too.
    private static func isDigit(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-") }
}
