/// What the scheduler says about a thread: the letters of proc_pid_stat(5), field 3.
public enum ProcessState: Hashable, Sendable {
    case running
    case sleeping
    /// In a wait that signals other than SIGKILL do not end.
    case uninterruptible
    case stopped
    /// Held by a debugger.
    case traced
    case zombie
    case dead
    case idle
    /// A letter of a kernel newer than this program.
    case other(Character)

    init(letter: UInt8) {
        switch letter {
        case UInt8(ascii: "R"): self = .running
        case UInt8(ascii: "S"): self = .sleeping
        case UInt8(ascii: "D"): self = .uninterruptible
        case UInt8(ascii: "T"): self = .stopped
        case UInt8(ascii: "t"): self = .traced
        case UInt8(ascii: "Z"): self = .zombie
        case UInt8(ascii: "X"), UInt8(ascii: "x"): self = .dead
        case UInt8(ascii: "I"): self = .idle
        default: self = .other(Character(Unicode.Scalar(letter)))
        }
    }

    /// The letter that ps(1) shows.
    public var letter: Character {
        switch self {
        case .running: "R"
        case .sleeping: "S"
        case .uninterruptible: "D"
        case .stopped: "T"
        case .traced: "t"
        case .zombie: "Z"
        case .dead: "X"
        case .idle: "I"
        case .other(let letter): letter
        }
    }

    /// Whether a thread in this state has ended.
    var isGone: Bool { self == .zombie || self == .dead }

    /// Whether a thread in this state takes no processor time until somebody lets it go on.
    var isHeld: Bool { self == .stopped || self == .traced }
}
