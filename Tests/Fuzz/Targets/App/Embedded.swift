import AppChannel
import EmbeddedCodec

/// Holds that the C library's build of the codec and the daemon's read what an app says alike.
func compareWithEmbedded(lineFromApp line: ArraySlice<UInt8>) {
    let fromApp = unsafe read(line, by: embedded_message_from_app)
    require(
        fromApp.elementsEqual(canonicalMessageFromApp(line)),
        "the C library's codec reads an app's message as the daemon's does")
}

/// Holds that the C library's build of the codec and the Swift library's read what the daemon says alike.
func compareWithEmbedded(lineToApp line: ArraySlice<UInt8>) {
    let toApp = unsafe read(line, by: embedded_message_to_app)
    require(
        toApp.elementsEqual(canonicalMessageToApp(line)),
        "the C library's codec reads the daemon's message as the Swift library's does")
}

private typealias Codec = (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int) -> Int

/// One for all inputs, so that there is not one to allocate for each of them.
private let text = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 4 * AppProtocol.maximumLineLength)

private func read(_ line: ArraySlice<UInt8>, by codec: Codec) -> ArraySlice<UInt8> {
    let count = unsafe line.withUnsafeBufferPointer { line in
        unsafe codec(line.baseAddress, line.count, text.baseAddress, text.count)
    }
    return unsafe ArraySlice(text.prefix(count))
}
