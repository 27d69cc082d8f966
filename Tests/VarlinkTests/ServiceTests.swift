import Testing

@testable import Varlink

@Suite struct ServiceTests {
    private let service = Service(
        vendor: "V", product: "P", version: "1", url: "U",
        interfaces: [
            Interface(
                name: "org.example", description: "interface org.example", methods: ["Do", "Watch"],
                streamingMethods: ["Watch"])
        ])

    /// What the service answers by itself.
    private func answer(_ text: String) throws -> String? {
        var connection = connection()
        connection.receive(message(text))
        guard try connection.nextCall(of: service) == nil else { return nil }
        return sent(by: &connection).first
    }

    @Test func callsOfMethodsAreAccepted() throws {
        var connection = connection()
        for text in [#"{"method":"org.example.Do"}"#, #"{"method":"org.example.Watch","more":true}"#] {
            connection.receive(message(text))
            let call = try #require(try connection.nextCall(of: service))
            #expect(call.interface == "org.example")
            connection.send(VarlinkReply(NoParameters()), to: call.id)
        }
    }

    @Test func informationNamesEveryInterface() throws {
        let expected =
            #"{"parameters":{"vendor":"V","product":"P","version":"1","url":"U","#
            + #""interfaces":["org.varlink.service","org.example"]}}"#
        #expect(try answer(#"{"method":"org.varlink.service.GetInfo"}"#) == expected)
    }

    @Test func descriptionsAreGiven() throws {
        let text = try answer(
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example"}}"#)
        #expect(text == #"{"parameters":{"description":"interface org.example"}}"#)
        let own = try answer(
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.varlink.service"}}"#
        )
        #expect(own?.contains("method GetInfo()") == true)
    }

    @Test(arguments: [
        (#"{"method":"org.nothing.Do"}"#, "InterfaceNotFound", #"{"interface":"org.nothing"}"#),
        (#"{"method":"Do"}"#, "InterfaceNotFound", #"{"interface":""}"#),
        (#"{"method":"org.example.Undo"}"#, "MethodNotFound", #"{"method":"org.example.Undo"}"#),
        (#"{"method":"org.example.Watch"}"#, "ExpectedMore", "{}"),
        (
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.x"}}"#,
            "InterfaceNotFound", #"{"interface":"org.x"}"#
        ),
        (
            #"{"method":"org.varlink.service.GetInterfaceDescription"}"#, "InvalidParameter",
            #"{"parameter":"interface"}"#
        ),
        (
            #"{"method":"org.varlink.service.GetInfo","parameters":{"x":1}}"#, "InvalidParameter",
            #"{"parameter":"x"}"#
        ),
    ])
    func mistakesAreAnswered(_ call: String, _ error: String, _ parameters: String) throws {
        #expect(try answer(call) == #"{"error":"org.varlink.service.\#(error)","parameters":\#(parameters)}"#)
    }

    @Test func callsOfTheServicesMethodsAreGivenOut() throws {
        var connection = connection()
        connection.receive(
            message(#"{"method":"org.varlink.service.GetInfo"}"#) + message(#"{"method":"org.example.Do"}"#))
        #expect(try connection.nextCall(of: service)?.methodName == "Do")
        #expect(sent(by: &connection).count == 1)
    }
}
