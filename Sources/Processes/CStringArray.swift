import CLinux

/// Strings the way execve(2) takes them: a null-terminated array of pointers to zero-terminated bytes.
@safe struct CStringArray: ~Copyable {
    private let bytes: UnsafeMutableBufferPointer<CChar>
    private let array: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    /// The strings must not contain zero bytes: what follows one is cut off.
    init(_ strings: [String]) {
        unsafe bytes = .allocate(capacity: strings.reduce(1) { $0 + $1.utf8.count + 1 })
        unsafe array = .allocate(capacity: strings.count + 1)
        unsafe bytes.initialize(repeating: 0)
        unsafe array.initialize(repeating: nil)

        var offset = 0
        for (index, string) in strings.enumerated() {
            unsafe array[index] = unsafe bytes.baseAddress.map { unsafe $0 + offset }
            for byte in string.utf8 {
                unsafe bytes[offset] = CChar(bitPattern: byte)
                offset += 1
            }
            offset += 1
        }
    }

    deinit {
        unsafe bytes.deallocate()
        unsafe array.deallocate()
    }

    /// Valid as long as this value lives.
    @unsafe var pointers: UnsafePointer<UnsafeMutablePointer<CChar>?>? {
        unsafe UnsafePointer(array.baseAddress)
    }

    /// The first string. Valid as long as this value lives.
    @unsafe var first: UnsafePointer<CChar>? {
        unsafe UnsafePointer(array.first ?? nil)
    }
}
