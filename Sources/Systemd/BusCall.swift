import CSystemd
import Glibc

/// A method call: to whom, what, with which arguments. It never starts a service that does not run.
public struct BusCall {
    /// What a call can be given; D-Bus distinguishes more, lifed needs no more.
    public enum Argument {
        /// `s`
        case text(String)
        /// `u`
        case unsigned(UInt32)
    }

    /// The name of the connection that is called: well known or unique.
    public var destination: String
    /// The object.
    public var path: String
    /// The interface of the method.
    public var interface: String
    /// The method.
    public var member: String
    /// Its arguments.
    public var arguments: [Argument]

    /// Makes a call, which `Bus.call` sends.
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
    public static func allProperties(of interface: String, at path: String, destination: String) -> BusCall {
        BusCall(
            destination, path: path, interface: "org.freedesktop.DBus.Properties", member: "GetAll",
            arguments: [.text(interface)])
    }
}

extension BusCall {
    /// The call as libsystemd wants it, to be unreferenced by the caller.
    func message(on bus: OpaquePointer) throws(SystemdError) -> OpaquePointer {
        var message: OpaquePointer?
        let result = unsafe sd_bus_message_new_method_call(bus, &message, destination, path, interface, member)
        try checked(result, "prepare the call \(member)")
        guard let message = unsafe message else {
            throw SystemdError(operation: "prepare the call \(member)", errno: ENOMEM)
        }
        do {
            try unsafe checked(sd_bus_message_set_auto_start(message, 0), "prepare the call \(member)")
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
        case .text(let text):
            return unsafe text.withCString { pointer in
                unsafe sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "s")), pointer)
            }
        case .unsigned(var number):
            return unsafe sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "u")), &number)
        }
    }
}
