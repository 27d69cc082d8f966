/// Which signals are meant: the match rules of the D-Bus specification, as far as they are used here.
public struct BusMatchRule {
    /// The unique name of the sender. A well-known name is no protection here: anybody may send a signal straight
    /// to a connection, and libsystemd cannot tell who owns the name.
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
    public init(sender: String, path: String? = nil, interface: String, member: String? = nil, argument: String? = nil)
    {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.argument = argument
    }

    /// Makes the rule for changes of an object's properties.
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
