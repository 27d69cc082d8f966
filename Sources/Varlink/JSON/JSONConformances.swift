extension String: JSONReadable, JSONWritable {
    /// Reads a string.
    ///
    /// - Throws: ``JSONError`` if the value is no string.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = try json.readString()
    }

    /// Writes a string.
    public func write(to json: inout JSONWriter) {
        json.write(self)
    }
}

extension Int64: JSONReadable, JSONWritable {
    /// Reads an integer.
    ///
    /// - Throws: ``JSONError`` if the value is no integer of 64 bits.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = try json.readInt()
    }

    /// Writes an integer.
    public func write(to json: inout JSONWriter) {
        json.write(self)
    }
}

extension Bool: JSONReadable, JSONWritable {
    /// Reads a Boolean value.
    ///
    /// - Throws: ``JSONError`` if the value is neither true nor false.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = try json.readBool()
    }

    /// Writes a Boolean value.
    public func write(to json: inout JSONWriter) {
        json.write(self)
    }
}

extension JSONText: JSONReadable, JSONWritable {
    /// Reads any value.
    public init(from json: inout JSONReader) {
        self = json.readText()
    }

    /// Writes any value.
    public func write(to json: inout JSONWriter) {
        json.write(self)
    }
}

/// Nil is null.
extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Reads a value or null.
    ///
    /// - Throws: ``JSONError`` of the value.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = json.readNull() ? nil : try json.read(Wrapped.self)
    }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// Writes a value or null.
    public func write(to json: inout JSONWriter) {
        if let self { self.write(to: &json) } else { json.writeNull() }
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads an array.
    ///
    /// - Throws: ``JSONError`` if the value is no array, or of an element.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = []
        try json.beginArray()
        while json.nextElement() { append(try json.read()) }
    }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes an array.
    public func write(to json: inout JSONWriter) {
        json.beginArray()
        for element in self { element.write(to: &json) }
        json.endArray()
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads an object.
    ///
    /// - Throws: ``JSONError`` if the value is no object, for a name that comes twice, or of a value.
    public init(from json: inout JSONReader) throws(JSONError) {
        self = [:]
        try json.beginObject()
        while json.nextMember() {
            let name = json.name
            // Names of different bytes may still be the same string: Unicode has two forms of some characters.
            guard updateValue(try json.read(), forKey: name) == nil else { throw json.error(.duplicateName) }
        }
    }
}

/// The names are sorted, so that equal dictionaries are equal texts.
extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// Writes an object.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        for (name, value) in sorted(by: { $0.key < $1.key }) {
            json.key(name)
            value.write(to: &json)
        }
        json.endObject()
    }
}
