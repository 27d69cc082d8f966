extension Service {
    /// The interface that every Varlink service has (varlink.org/Service).
    static let introspection = Interface(
        name: "org.varlink.service",
        description: """
            # What every Varlink service tells about itself.
            interface org.varlink.service

            # Who made the service, and which interfaces it has.
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

            # A parameter is missing, unknown, or not what it should be.
            error InvalidParameter (parameter: string)

            # The caller may not do this.
            error PermissionDenied ()

            # The method answers only calls with more.
            error ExpectedMore ()

            """,
        methods: ["GetInfo", "GetInterfaceDescription"]
    )
}
