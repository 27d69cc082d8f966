// Compiled as Embedded Swift, together with the sources of AppChannel.

/// See EmbeddedCodec.h.
@c public func embedded_message_to_app(
    _ line: UnsafePointer<UInt8>?, _ length: Int, _ text: UnsafeMutablePointer<UInt8>?, _ capacity: Int
) -> Int {
    let bytes = unsafe Array(UnsafeBufferPointer(start: line, count: length))
    return unsafe copy(canonicalMessageToApp(bytes[...]), to: UnsafeMutableBufferPointer(start: text, count: capacity))
}

/// See EmbeddedCodec.h.
@c public func embedded_message_from_app(
    _ line: UnsafePointer<UInt8>?, _ length: Int, _ text: UnsafeMutablePointer<UInt8>?, _ capacity: Int
) -> Int {
    let bytes = unsafe Array(UnsafeBufferPointer(start: line, count: length))
    return unsafe copy(
        canonicalMessageFromApp(bytes[...]), to: UnsafeMutableBufferPointer(start: text, count: capacity))
}

private func copy(_ result: [UInt8], to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
    for (index, byte) in result.prefix(text.count).enumerated() { unsafe text[index] = byte }
    return result.count
}
