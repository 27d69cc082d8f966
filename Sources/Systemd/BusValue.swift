import CSystemd
import Glibc

/// A value of the D-Bus type system, as far as a receiver has to tell types apart.
///
/// Variants are replaced by what they hold, object paths and signatures by their text.
public enum BusValue {
    /// `b`
    case bool(Bool)
    /// `n`, `i`, `x`
    case integer(Int64)
    /// `y`, `q`, `u`, `t`
    case unsigned(UInt64)
    /// `d`
    case double(Double)
    /// `s`, `o`, `g`
    case text(String)
    /// `h`
    case descriptor(BusDescriptor)
    /// `a`, except for those with text as their keys
    case array([BusValue])
    /// `a{s…}`, `a{o…}`
    case dictionary([String: BusValue])
    /// `(…)`, and entries of dictionaries with keys that are no text
    case structure([BusValue])
}

extension BusValue {
    /// The truth value, if it is one.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// The number, if it is one without a sign.
    public var unsigned: UInt64? {
        guard case .unsigned(let value) = self else { return nil }
        return value
    }

    /// The text, if it is one.
    public var text: String? {
        guard case .text(let value) = self else { return nil }
        return value
    }

    /// The descriptor, if it is one.
    public var descriptor: BusDescriptor? {
        guard case .descriptor(let value) = self else { return nil }
        return value
    }

    /// The entries, if it is a dictionary with text as its keys.
    public var dictionary: [String: BusValue]? {
        guard case .dictionary(let value) = self else { return nil }
        return value
    }

    /// The elements, if it is an array or a structure.
    public var elements: [BusValue]? {
        switch self {
        case .array(let values), .structure(let values): values
        default: nil
        }
    }
}

/// A descriptor that came with a message. It is closed when the last reference to it goes.
@MainActor public final class BusDescriptor {
    /// The number, closed on exec. It stays owned by this object.
    public let rawValue: Int32

    init(takingOver rawValue: Int32) {
        self.rawValue = rawValue
    }

    isolated deinit {
        close(rawValue)
    }
}
