import ControlAPI
import Glibc
import LifecycleTypes

/// An X server, through lifed-follow-x11, which is linked to libxcb and writes a line after each change. lifectl is linked
/// statically and cannot use libxcb.
///
/// A line is the number of the focused window, 0 for none or - if it is not known, and then each window as
/// `NUMBER:PROCESS:VISIBLE:TITLE`, the title percent-encoded, with a space between. A process that the window claims, for want of
/// the X-Resource extension, ends in `?`.
final class X11Source: Source {
    private static let name = "lifed-follow-x11"

    private let program: LineProgram

    init() throws(Failure) {
        guard let path = Self.path else {
            throw Failure(
                .unavailable, "cannot follow x11", "\(Self.name) is not installed",
                remedy: "install libxcb-res0-dev and build lifed again")
        }
        program = try LineProgram([path], doing: "cannot follow x11")
    }

    /// The path of the program: beside lifectl in the build directory, otherwise in its installed place.
    private static var path: String? {
        let own = Directory.ofThisProgram ?? "/usr/bin"
        return ["\(own)/\(name)", "\(own)/../lib/lifed/\(name)"].first { unsafe access($0, X_OK) == 0 }
    }

    var descriptor: CInt { program.descriptor }

    var isReady: Bool { program.hasMore }

    func read() throws(SourceLost) -> Observation? {
        guard let line = program.newestLine() else { throw SourceLost(reason: program.complaint) }
        guard let observation = Observation(x11: line) else {
            throw SourceLost(reason: "\(Self.name) says what is not understood")
        }
        return observation
    }
}

extension Observation {
    /// Reads a line of lifed-follow-x11; nil for anything else.
    init?(x11 line: String) {
        self.init()
        let words = line.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        guard let head = words.first else { return nil }
        var visible: [Item] = []
        var items: [Int64: Item] = [:]
        for word in words.dropFirst().prefix(Self.limit) {
            let parts = word.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map {
                String(decoding: $0, as: UTF8.self)
            }
            let isClaim = parts.count == 4 && parts[1].hasSuffix("?")
            guard parts.count == 4, let number = Int64(parts[0]),
                let process = Int64(isClaim ? String(parts[1].dropLast()) : parts[1])
            else { return nil }
            let item = Item(number: number, process: process, isAttested: !isClaim, title: Self.decoded(parts[3]))
            items[number] = item
            if parts[2] == "1" { visible.append(item) }
        }
        uses[.visible] = visible
        switch head {
        case "-": focus = .unknown
        case "0": focus = .nothing
        default:
            guard let number = Int64(head), number > 0 else { return nil }
            // A window that has just gone is not in the list; another line follows.
            focus = items[number].map { .item($0) } ?? .unknown
        }
    }

    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
