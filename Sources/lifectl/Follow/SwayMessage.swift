/// A message of sway's control socket, sway-ipc(7): the magic words, a length and a type in the machine's byte order, and
/// JSON.
struct SwayMessage: Equatable {
    /// What it is: a kind of call, the same kind in its answer, or an event, which has the highest bit.
    enum Kind: Equatable {
        case subscribe, tree
        /// An event that windows have come, gone or changed.
        case window
        /// An event about workspaces.
        case workspace
        /// An event that sway ends.
        case shutdown
        case other(UInt32)

        static func named(_ number: UInt32) -> Kind {
            all.first { $0.number == number } ?? .other(number)
        }

        private static let all: [Kind] = [.subscribe, .tree, .window, .workspace, .shutdown]

        var number: UInt32 {
            switch self {
            case .subscribe: 2
            case .tree: 4
            case .workspace: 0x8000_0000
            case .window: 0x8000_0003
            case .shutdown: 0x8000_0006
            case .other(let number): number
            }
        }
    }

    let kind: Kind
    let payload: [UInt8]

    static let magic = Array("i3-ipc".utf8)
    static let headerLength = magic.count + 8

    /// The message as it goes over the socket.
    var bytes: [UInt8] {
        var bytes = Self.magic
        for number in [UInt32(payload.count), kind.number] {
            unsafe withUnsafeBytes(of: number) { unsafe bytes.append(contentsOf: $0) }
        }
        return bytes + payload
    }
}

/// What has come over sway's socket and has not been read.
struct SwayBuffer {
    /// Something that is no message of sway's, or a message longer than any tree is.
    struct Garbage: Error, Equatable {}

    /// The longest message that is taken, in bytes: far more than the tree of a screen full of windows.
    static let limit = 16 << 20

    private var bytes: [UInt8] = []
    private var position = 0

    mutating func append(_ new: [UInt8]) {
        bytes.removeFirst(position)
        position = 0
        bytes += new
    }

    /// The next message; nil as long as it is not all there.
    mutating func next() throws(Garbage) -> SwayMessage? {
        let rest = bytes[position...]
        guard rest.prefix(SwayMessage.magic.count).elementsEqual(SwayMessage.magic.prefix(rest.count)) else {
            throw Garbage()
        }
        guard rest.count >= SwayMessage.headerLength else { return nil }
        let length = Int(number(at: position + SwayMessage.magic.count))
        guard length <= Self.limit else { throw Garbage() }
        let start = position + SwayMessage.headerLength
        guard rest.count >= SwayMessage.headerLength + length else { return nil }
        let kind = SwayMessage.Kind.named(number(at: position + SwayMessage.magic.count + 4))
        position = start + length
        return SwayMessage(kind: kind, payload: Array(bytes[start..<position]))
    }

    private func number(at index: Int) -> UInt32 {
        var number: UInt32 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe $0.copyBytes(from: bytes[index..<index + 4]) }
        return number
    }
}
