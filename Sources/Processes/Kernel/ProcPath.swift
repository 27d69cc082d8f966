import CLinux

/// The path of a file of a process, `/proc/PID/FILE`, made without a String: a look at an app uses dozens of paths, each once.
struct ProcPath {
    private var bytes = InlineArray<64, UInt8>(repeating: 0)
    private var count = 0

    /// - Parameters:
    ///   - process: The number of the process.
    ///   - file: A name of at most 32 bytes, such as `stat` or `fdinfo/`.
    ///   - number: The number at the end of the name; nil for none.
    init(_ process: ProcessID, _ file: StaticString, _ number: Int32? = nil) {
        append("/proc/")
        append(process)
        append("/")
        append(file)
        if let number { append(number) }
    }

    /// - Parameters:
    ///   - process: The number of the process.
    ///   - thread: The number of one of its threads.
    ///   - file: A name of at most 24 bytes, of a file of the thread.
    init(_ process: ProcessID, thread: ProcessID, _ file: StaticString) {
        self.init(process, "task/", thread)
        append("/")
        append(file)
    }

    private mutating func append(_ text: StaticString) {
        let size = text.utf8CodeUnitCount
        var rest = bytes.mutableSpan
        unsafe rest.withUnsafeMutableBytes { bytes in
            precondition(count + size < bytes.count)
            unsafe bytes.baseAddress?.advanced(by: count).copyMemory(from: text.utf8Start, byteCount: size)
        }
        count += size
    }

    private mutating func append(_ number: Int32) {
        if number < 0 { append("-") }
        let start = count
        var rest = number.magnitude
        repeat {
            bytes[count] = 0x30 + UInt8(rest % 10)
            rest /= 10
            count += 1
        } while rest > 0
        // The digits were written from the last to the first.
        for index in 0..<(count - start) / 2 { bytes.swapAt(start + index, count - 1 - index) }
    }

    /// Calls a function of the C library with the path.
    func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        // The rest of the array is zeros.
        unsafe withUnsafeBytes(of: bytes) { unsafe body($0.assumingMemoryBound(to: CChar.self).baseAddress) }
    }

    /// Returns the target of the link at the path; nil if there is none. A target beyond 512 bytes is cut.
    func readLink() -> String? {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { target in
            let count = unsafe withCString { path in
                unsafe target.withMemoryRebound(to: CChar.self) { target in
                    guard let path = unsafe path, let start = target.baseAddress else { return -1 }
                    return unsafe readlink(path, start, target.count)
                }
            }
            return count > 0 ? unsafe String(decoding: target[..<count], as: UTF8.self) : nil
        }
    }
}
