/// An interface of a service.
public struct Interface: Sendable {
    /// The name, in reverse domain notation.
    public let name: String
    /// The text in Varlink's interface definition language.
    public let description: String
    /// The methods that the service has, without the name of the interface.
    fileprivate let methods: [String]
    /// The methods that answer only calls with `more`.
    fileprivate let streamingMethods: Set<String>

    /// Creates an interface.
    ///
    /// - Parameters:
    ///   - methods: The names of the methods that the service has, without the interface's name.
    ///   - streamingMethods: Those that answer only calls with `more`.
    public init(name: String, description: String, methods: [String], streamingMethods: Set<String> = []) {
        self.name = name
        self.description = description
        self.methods = methods
        self.streamingMethods = streamingMethods
    }
}

/// The interfaces of a service, and its replies about itself.
public struct Service: Sendable {
    /// The result of `dispatch(_:)`.
    public enum Dispatch: Equatable, Sendable {
        /// The call is about the service itself, or wrong: this is its only reply.
        case answer(VarlinkReply)
        /// The call is a valid call of one of the service's interfaces.
        case accept
    }

    private let information: Information
    private let interfaces: [Interface]

    /// Creates a service with its interfaces; `org.varlink.service` is added to them.
    ///
    /// - Parameters:
    ///   - vendor: The vendor, as the service reports it.
    ///   - product: The name of the product, as the service reports it.
    ///   - version: The version of the product, as the service reports it.
    ///   - url: The address of the product's page, as the service reports it.
    ///   - interfaces: The interfaces.
    public init(vendor: String, product: String, version: String, url: String, interfaces: [Interface]) {
        self.interfaces = [Self.introspection] + interfaces
        information = Information(
            vendor: vendor, product: product, version: version, url: url, interfaces: self.interfaces.map { $0.name })
    }

    /// Answers calls about the service itself and wrong calls, and accepts the others.
    public func dispatch(_ call: Call) -> Dispatch {
        guard let interface = interface(named: call.interface) else {
            return .answer(ServiceError.interfaceNotFound(call.interface).reply)
        }
        guard interface.methods.contains(call.methodName) else {
            return .answer(ServiceError.methodNotFound(call.method).reply)
        }
        if !call.wantsMore, interface.streamingMethods.contains(call.methodName) {
            return .answer(ServiceError.expectedMore.reply)
        }
        guard interface.name == Self.introspection.name else { return .accept }
        do throws(ServiceError) {
            return .answer(try introspect(call))
        } catch {
            return .answer(error.reply)
        }
    }

    private func interface(named name: String) -> Interface? {
        interfaces.first { $0.name == name }
    }

    private func introspect(_ call: Call) throws(ServiceError) -> VarlinkReply {
        if call.methodName == "GetInfo" {
            try call.requireNoParameters()
            return VarlinkReply(information)
        }
        let name = try call.parameters(as: DescriptionRequest.self).interface
        guard let interface = interface(named: name) else { throw .interfaceNotFound(name) }
        return VarlinkReply(["description": interface.description])
    }
}

extension ServerConnection {
    /// Returns the next call that the service accepts, and answers the calls before it.
    ///
    /// - Throws: ``ProtocolViolation``, once; the connection closes.
    public mutating func nextCall(of service: Service) throws(ProtocolViolation) -> Call? {
        while let call = try nextCall() {
            switch service.dispatch(call) {
            case .accept: return call
            case .answer(let reply): send(reply, to: call.id)
            }
        }
        return nil
    }
}

private struct Information: JSONWritable, Sendable {
    let vendor: String
    let product: String
    let version: String
    let url: String
    let interfaces: [String]

    var json: JSONValue {
        [
            "vendor": vendor.json, "product": product.json, "version": version.json, "url": url.json,
            "interfaces": interfaces.json,
        ]
    }
}

private struct DescriptionRequest: JSONReadable {
    let interface: String

    init(json: JSONValue) throws(JSONError) {
        try json.refuseFields(otherThan: ["interface"])
        interface = try json.read("interface")
    }
}

extension Service {
    /// The interface of every Varlink service (varlink.org/Service).
    static let introspection = Interface(
        name: "org.varlink.service",
        description: """
            # The information that every Varlink service gives about itself.
            interface org.varlink.service

            # The maker of the service, and its interfaces.
            method GetInfo() -> (
              vendor: string,
              product: string,
              version: string,
              url: string,
              interfaces: []string
            )

            # The text that describes one of the interfaces.
            method GetInterfaceDescription(interface: string) -> (description: string)

            # The service has no such interface.
            error InterfaceNotFound (interface: string)

            # The interface has no such method.
            error MethodNotFound (method: string)

            # The interface describes the method, and the service does not have it.
            error MethodNotImplemented (method: string)

            # A parameter is missing, unknown or invalid.
            error InvalidParameter (parameter: string)

            # The caller may not do this.
            error PermissionDenied ()

            # The method answers only calls with more.
            error ExpectedMore ()

            """,
        methods: ["GetInfo", "GetInterfaceDescription"]
    )
}
