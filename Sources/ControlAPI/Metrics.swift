public import Varlink

// `io.systemd.Metrics`, the interface by which services of systemd 260 and later tell their figures, as lifed has it.

/// A value of a metric: a number or a word.
public enum MetricValue: Codable, Sendable, Equatable {
    case number(Int64)
    case word(String)

    /// Decodes a number or a word.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .word(try container.decode(String.self))
        }
    }

    /// Encodes the number or the word.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .word(let word): try container.encode(word)
        }
    }
}

/// A metric.
public struct Metric: Codable, Sendable, Equatable {
    /// The name of the family.
    public var name: String
    /// The value.
    public var value: MetricValue
    /// The app that the metric is about; nil for all apps.
    public var object: String?
    /// The fields that identify the metric within its family.
    public var fields: [String: String]?

    package init(name: String, value: MetricValue, object: String? = nil, fields: [String: String]? = nil) {
        (self.name, self.value, self.object, self.fields) = (name, value, object, fields)
    }
}

/// A family: the metrics of one name.
public struct MetricFamily: Codable, Sendable, Equatable {
    /// The kinds of values.
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case counter, gauge, string
    }

    /// The name of the metrics.
    public var name: String
    /// The description.
    public var description: String
    /// The kind of the values.
    public var type: Kind

    package init(name: String, description: String, type: Kind) {
        (self.name, self.description, self.type) = (name, description, type)
    }
}

/// The interface `io.systemd.Metrics`.
public enum MetricsInterface {
    /// The interface's name.
    public static let name = "io.systemd.Metrics"

    /// The methods; both answer only calls with `more`.
    public enum Method: String, CaseIterable, Sendable {
        case list = "List"
        case describe = "Describe"

        /// The qualified name.
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

    /// The interface with all methods, for a service.
    public static var interface: Interface {
        let methods = Set(Method.allCases.map(\.rawValue))
        return Interface(name: name, description: description, methods: methods, streamingMethods: methods)
    }
}
