extension [Field] {
    func required(_ key: String) throws(LineError) -> String {
        guard let value = value(of: key) else { throw .missingField(key: key) }
        return value
    }

    func requiredNumber(_ key: String) throws(LineError) -> Int64 {
        guard let number = try number(of: key) else { throw .missingField(key: key) }
        return number
    }

    func requiredAssertionID() throws(LineError) -> AssertionID {
        AssertionID(rawValue: try requiredNumber("id"))
    }
}
