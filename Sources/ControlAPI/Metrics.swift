public import Varlink

// `io.systemd.Metrics`, the interface by which services of systemd 260 and later tell their figures, as lifed has it.

/// A value of a metric: a number or a word.
public enum MetricValue: Codable, Sendable, Equatable {
    case number(Int64)
    case word(String)

    /// Reads either.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .word(try container.decode(String.self))
        }
    }

    /// Writes the one that it is.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .word(let word): try container.encode(word)
        }
    }
}

/// One figure.
public struct Metric: Codable, Sendable, Equatable {
    /// The name of its family.
    public var name: String
    /// The figure.
    public var value: MetricValue
    /// What it is a figure of, an app; nil for all of them.
    public var object: String?
    /// What tells it from others of its family.
    public var fields: [String: String]?

    /// A figure with what tells it from others.
    public init(name: String, value: MetricValue, object: String? = nil, fields: [String: String]? = nil) {
        self.name = name
        self.value = value
        self.object = object
        self.fields = fields
    }
}

/// What the figures of one name say.
public struct MetricFamily: Codable, Sendable, Equatable {
    /// How the figures move.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case counter, gauge, string
    }

    /// The name of each of them.
    public var name: String
    /// What they say.
    public var description: String
    /// How they move.
    public var type: Kind

    /// A family with what there is to know.
    public init(name: String, description: String, type: Kind) {
        self.name = name
        self.description = description
        self.type = type
    }
}

/// The interface `io.systemd.Metrics`.
public enum MetricsInterface {
    /// The interface's name.
    public static let name = "io.systemd.Metrics"

    /// Its methods; both answer only calls with `more`.
    public enum Method: String, CaseIterable, Sendable {
        case list = "List"
        case describe = "Describe"

        /// The name as calls have it.
        public var qualified: String { "\(MetricsInterface.name).\(rawValue)" }
    }

    /// The interface in Varlink's interface definition language.
    public static let description = """
        # Figures of a service, for those who collect them.
        interface io.systemd.Metrics

        # Whether a family's figures only grow, go up and down, or are words.
        type MetricFamilyType (counter, gauge, string)

        # Every figure: its family, its value, what it is a figure of, and what tells it from others of its family.
        # Call with more. The value is a number or a string: an object stands for any value in Varlink.
        method List() -> (name: string, value: object, object: ?string, fields: ?object)

        # Every family. Call with more.
        method Describe() -> (name: string, description: string, type: MetricFamilyType)

        # There is no figure at all.
        error NoSuchMetric ()
        """

    /// The interface for a service that has all of it.
    public static var interface: Interface {
        let methods = Set(Method.allCases.map(\.rawValue))
        return Interface(name: name, description: description, methods: methods, streamingMethods: methods)
    }
}
