public import Varlink

/// The errors of `org.lifed`: which app, why, and what would work.
public struct ControlError: Error, Sendable, Equatable {
    /// Which error it is; the raw value is its name in the interface.
    public enum Kind: String, Sendable, CaseIterable {
        case noSuchApp = "NoSuchApp"
        case noSuchScene = "NoSuchScene"
        case invalidApp = "InvalidApp"
        case ambiguous = "Ambiguous"
        case notRunning = "NotRunning"
        case refused = "Refused"
        case notPermitted = "NotPermitted"
        case superseded = "Superseded"
        case interrupted = "Interrupted"
        case unanswered = "Unanswered"
        case ended = "Ended"
        case stopping = "Stopping"
        case launchFailed = "LaunchFailed"
        case failed = "Failed"
        case subscriptionOverrun = "SubscriptionOverrun"
    }

    /// Which error it is.
    public var kind: Kind
    /// Which app; nil where it is about none.
    public var id: String?
    /// What is the matter, as part of a sentence.
    public var reason: String
    /// What would work, as a sentence; may be empty.
    public var remedy: String

    /// An error with what a person needs to know.
    public init(_ kind: Kind, id: String?, reason: String, remedy: String) {
        self.kind = kind
        self.id = id
        self.reason = reason
        self.remedy = remedy
    }

    private struct Parameters: Codable {
        var id: String?
        var reason: String
        var remedy: String
    }

    /// The error as it goes over the wire.
    public var reply: Reply {
        let id = kind == .subscriptionOverrun ? nil : self.id ?? ""
        return .error(
            LifedInterface.name + "." + kind.rawValue, Parameters(id: id, reason: reason, remedy: remedy))
    }

    /// The error that a daemon answered with, or nil when it is not one of these.
    public init?(_ error: RemoteError) {
        let prefix = LifedInterface.name + "."
        guard error.name.hasPrefix(prefix), let kind = Kind(rawValue: String(error.name.dropFirst(prefix.count))),
            let parameters = try? error.parameters(as: Parameters.self)
        else { return nil }
        self.init(kind, id: parameters.id, reason: parameters.reason, remedy: parameters.remedy)
    }
}
