/// Texts as C has them, valid for as long as this is there.
@safe final class CTexts {
    private var strings = unsafe [UnsafeMutableBufferPointer<CChar>]()

    deinit {
        while let string = unsafe strings.popLast() { unsafe string.deallocate() }
    }

    /// The text, or NULL for none.
    func add(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let string = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
        unsafe string.initialize(repeating: 0)
        var index = 0
        for byte in text.utf8 {
            unsafe string[index] = CChar(bitPattern: byte)
            index += 1
        }
        unsafe strings.append(string)
        return unsafe UnsafePointer(string.baseAddress)
    }
}
