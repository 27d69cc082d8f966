import CSystemd
import Glibc

/// A method call: destination, method and arguments.
public struct BusCall {
    /// An argument of a call. D-Bus distinguishes more types than lifed needs.
    public enum Argument {
        /// A string: `s`.
        case text(String)
        /// An unsigned number of 32 bits: `u`.
        case unsigned(UInt32)
        /// A signed number of 32 bits: `i`.
        case integer(Int32)
        /// An array of strings: `as`.
        case texts([String])
        /// A dictionary without entries: `a{sv}`.
        case noOptions
    }

    /// The name of the connection that is called: well known or unique.
    public var destination: String
    /// The path of the object that has the method.
    public var path: String
    /// The interface of the method.
    public var interface: String
    /// The name of the method.
    public var member: String
    /// The arguments, in the order of the method's signature.
    public var arguments: [Argument]
    /// A Boolean value that indicates whether the bus may start the service. By default, it does not.
    public var startsService = false

    /// Makes a call, which `Bus.call` sends.
    ///
    /// - Parameters:
    ///   - destination: The name of the connection that is called: well known or unique.
    ///   - path: The object.
    ///   - interface: The interface of the method.
    ///   - member: The method.
    ///   - arguments: The arguments, in the order of the method's signature.
    public init(
        _ destination: String, path: String, interface: String, member: String, arguments: [Argument] = []
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }

    /// Makes the call that reads all properties of an object's interface.
    ///
    /// - Parameters:
    ///   - interface: The interface of the properties.
    ///   - path: The object.
    ///   - destination: The name of the connection that is called: well known or unique.
    /// - Returns: A call of `org.freedesktop.DBus.Properties.GetAll`.
    public static func allProperties(of interface: String, at path: String, destination: String) -> BusCall {
        BusCall(
            destination, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
            arguments: [.text(interface)])
    }
}

extension BusCall {
    /// Returns the call as libsystemd wants it, to be unreferenced by the caller.
    func message(on bus: OpaquePointer) throws(SystemdError) -> OpaquePointer {
        var message: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        try checked(result, "prepare the call \(member)")
        guard let message = unsafe message else {
            throw SystemdError(operation: "prepare the call \(member)", errno: ENOMEM)
        }
        do {
            try unsafe checked(
                sd_bus_message_set_auto_start(message, startsService ? 1 : 0), "prepare the call \(member)")
            for argument in arguments {
                try unsafe checked(append(argument, to: message), "prepare the call \(member)")
            }
        } catch {
            unsafe sd_bus_message_unref(message)
            throw error
        }
        return unsafe message
    }

    private func append(_ argument: Argument, to message: OpaquePointer) -> Int32 {
        switch argument {
        case .text(let text): return unsafe append(text, to: message)
        case .unsigned(var number):
            return unsafe sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "u")), &number)
        case .integer(var number):
            return unsafe sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "i")), &number)
        case .texts(let texts): return unsafe append(texts.map { .text($0) }, as: "s", to: message)
        case .noOptions: return unsafe append([], as: "{sv}", to: message)
        }
    }

    private func append(_ text: String, to message: OpaquePointer) -> Int32 {
        unsafe text.withCString { pointer in
            unsafe sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "s")), pointer)
        }
    }

    private func append(_ elements: [Argument], as type: String, to message: OpaquePointer) -> Int32 {
        let array = CChar(bitPattern: UInt8(ascii: "a"))
        var result = unsafe type.withCString { unsafe sd_bus_message_open_container(message, array, $0) }
        for element in elements where result >= 0 { result = unsafe append(element, to: message) }
        return unsafe result < 0 ? result : sd_bus_message_close_container(message)
    }
}

/// Which signals are meant: the match rules of the D-Bus specification, as far as they are used here.
public struct BusMatchRule {
    /// The unique name of the sender. A well-known name is no protection here: any client may send a signal straight to
    /// a connection, and libsystemd cannot tell the owner of the name.
    public var sender: String
    /// The object; nil for any.
    public var path: String?
    /// The interface of the signal.
    public var interface: String
    /// The signal; nil for all of the interface.
    public var member: String?
    /// The first argument, if it is text; nil for any.
    public var argument: String?

    /// Makes a rule.
    ///
    /// - Parameters:
    ///   - sender: The unique name of the sender.
    ///   - path: The object; nil for any.
    ///   - interface: The interface of the signal.
    ///   - member: The signal; nil for all of the interface.
    ///   - argument: The first argument, if it is text; nil for any.
    public init(sender: String, path: String? = nil, interface: String, member: String? = nil, argument: String? = nil)
    {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument = argument
    }

    /// Makes the rule for changes of an object's properties.
    ///
    /// - Parameters:
    ///   - interface: The interface of the properties.
    ///   - path: The object.
    ///   - sender: The unique name of the sender.
    /// - Returns: A rule for `org.freedesktop.DBus.Properties.PropertiesChanged`.
    public static func propertiesChanged(of interface: String, at path: String, sender: String) -> BusMatchRule {
        BusMatchRule(
            sender: sender, path: path, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged",
            argument: interface)
    }
}

extension BusMatchRule {
    var text: String {
        let keys = [
            ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface), ("member", member),
            ("arg0", argument),
        ]
        return keys.compactMap { key, value in value.map { "\(key)='\($0.withoutQuotes)'" } }.joined(separator: ",")
    }
}

extension String {
    /// No name or path of D-Bus holds a quote, and an argument that does would end the rule's text.
    fileprivate var withoutQuotes: String { filter { $0 != "'" } }
}
