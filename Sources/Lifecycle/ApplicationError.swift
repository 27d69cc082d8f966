internal import Glibc

/// Why an app cannot take up its life cycle.
public enum ApplicationError: Error, Hashable, Sendable {
    /// It was taken up already. There is one in a process.
    case alreadyStarted
    /// The system has no descriptors or memory left: EMFILE, ENFILE or ENOMEM.
    case system(code: CInt)
}

extension ApplicationError: CustomStringConvertible {
    /// A sentence that says why.
    public var description: String {
        switch self {
        case .alreadyStarted: "The life cycle of this process was taken up already."
        case .system(let code): "The life cycle cannot be taken up: \(Self.text(of: code))."
        }
    }

    private static func text(of code: CInt) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
