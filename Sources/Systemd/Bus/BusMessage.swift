import CSystemd
import Glibc

/// A signal that arrived.
public struct BusMessage {
    /// The unique name of the connection that sent it. The bus attests it; senders cannot choose it.
    public let sender: String?
    /// The object that it is about.
    public let path: String?
    /// The signal's name without its interface.
    public let member: String?
    /// The arguments, in the order of the signal's signature.
    public let arguments: [BusValue]
}

/// An error that a method call was answered with, or that the library answered it with itself.
public struct BusError: Error, Equatable, CustomStringConvertible {
    /// Such as `org.freedesktop.DBus.Error.NameHasNoOwner`.
    public let name: String

    /// The explanation of the answering service.
    public let message: String

    /// One line.
    public nonisolated var description: String { message.isEmpty ? name : "\(message) (\(name))" }
}

extension BusMessage {
    init(_ message: OpaquePointer) {
        sender = unsafe text(sd_bus_message_get_sender(message))
        path = unsafe text(sd_bus_message_get_path(message))
        member = unsafe text(sd_bus_message_get_member(message))
        arguments = unsafe readValues(of: message)
    }
}

/// Returns the values or the error of a reply.
func readReply(_ message: OpaquePointer) -> Result<[BusValue], BusError> {
    guard let error = unsafe sd_bus_message_get_error(message) else { return unsafe .success(readValues(of: message)) }
    let (name, explanation) = unsafe (error.pointee.name, error.pointee.message)
    return unsafe .failure(BusError(name: text(name) ?? "unknown", message: text(explanation) ?? ""))
}

func text(_ string: UnsafePointer<CChar>?) -> String? {
    unsafe string.map { unsafe String(cString: $0) }
}

/// Reads the rest of the container that the message stands in.
///
/// libsystemd has checked the message as it arrived, so a failure can only mean that memory ran out; the values that
/// were read until then are returned.
private func readValues(of message: OpaquePointer) -> [BusValue] {
    var values: [BusValue] = []
    while let value = unsafe readValue(of: message) { values.append(value) }
    return values
}

private func readValue(of message: OpaquePointer) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard unsafe sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "a"): return unsafe readArray(of: message, contents: contents)
    case UInt8(ascii: "v"): return unsafe readContainer(type, of: message, contents: contents)?.first
    case UInt8(ascii: "r"), UInt8(ascii: "e"):
        return unsafe readContainer(type, of: message, contents: contents).map(BusValue.structure)
    default: return unsafe readBasic(type, of: message)
    }
}

private func readContainer(
    _ type: CChar, of message: OpaquePointer, contents: UnsafePointer<CChar>?
) -> [BusValue]? {
    guard unsafe sd_bus_message_enter_container(message, type, contents) > 0 else { return nil }
    let values = unsafe readValues(of: message)
    guard unsafe sd_bus_message_exit_container(message) >= 0 else { return nil }
    return values
}

private func readArray(of message: OpaquePointer, contents: UnsafePointer<CChar>?) -> BusValue? {
    let keys = unsafe contents.map { unsafe (String(cString: $0)) } ?? ""
    let type = CChar(bitPattern: UInt8(ascii: "a"))
    guard let values = unsafe readContainer(type, of: message, contents: contents) else { return nil }
    guard keys.hasPrefix("{s") || keys.hasPrefix("{o") else { return .array(values) }
    var entries: [String: BusValue] = [:]
    for case .structure(let pair) in values where pair.count == 2 {
        if let key = pair[0].text { entries[key] = pair[1] }
    }
    return .dictionary(entries)
}

private func readBasic(_ type: CChar, of message: OpaquePointer) -> BusValue? {
    func read<Value: BitwiseCopyable>(_ start: Value, _ make: (Value) -> BusValue) -> BusValue? {
        var value = start
        return unsafe sd_bus_message_read_basic(message, type, &value) > 0 ? make(value) : nil
    }
    switch UInt8(bitPattern: type) {
    case UInt8(ascii: "b"): return read(Int32(0)) { .bool($0 != 0) }
    case UInt8(ascii: "n"): return read(Int16(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "i"): return read(Int32(0)) { .integer(Int64($0)) }
    case UInt8(ascii: "x"): return read(Int64(0)) { .integer($0) }
    case UInt8(ascii: "y"): return read(UInt8(0)) { .unsigned(UInt64($0)) }
    case UInt8(ascii: "q"): return read(UInt16(0)) { .unsigned(UInt64($0)) }
    case UInt8(ascii: "u"): return read(UInt32(0)) { .unsigned(UInt64($0)) }
    case UInt8(ascii: "t"): return read(UInt64(0)) { .unsigned($0) }
    case UInt8(ascii: "d"): return read(Double(0)) { .double($0) }
    case UInt8(ascii: "h"): return unsafe readDescriptor(of: message)
    default:
        var string: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, type, &string) > 0 else { return nil }
        return unsafe text(string).map { .text($0) }
    }
}

/// Returns a copy of the descriptor in a message: the message closes its own.
private func readDescriptor(of message: OpaquePointer) -> BusValue? {
    var borrowed: Int32 = -1
    let type = CChar(bitPattern: UInt8(ascii: "h"))
    guard unsafe sd_bus_message_read_basic(message, type, &borrowed) > 0 else { return nil }
    let copy = fcntl(borrowed, F_DUPFD_CLOEXEC, 3)
    return copy >= 0 ? .descriptor(BusDescriptor(owning: copy)) : nil
}

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
        case .bool, .integer, .unsigned, .double, .text, .descriptor, .dictionary: nil
        }
    }
}

/// A descriptor that came with a message. It is closed when the last reference to it goes.
@MainActor public final class BusDescriptor {
    /// The number, closed on exec. It stays owned by this object.
    public let rawValue: Int32

    init(owning rawValue: Int32) {
        self.rawValue = rawValue
    }

    isolated deinit {
        close(rawValue)
    }
}
