import Bytes
import CLinux

/// A path that the kernel is asked for.
protocol FilePath {
    /// Calls a function of the C library with the path.
    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result
}

extension String: FilePath {
    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        unsafe withCString { unsafe body($0) }
    }
}

/// The path of a file of a process, `/proc/PID/FILE`, made without a String: a look at an app uses dozens of paths, each once.
struct ProcPath: FilePath {
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
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ number: Int32) {
        DecimalDigits(Int64(number)).withBytes { digits in
            unsafe digits.withUnsafeBufferPointer { unsafe append($0) }
        }
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = bytes.mutableSpan
        unsafe rest.withUnsafeMutableBytes { bytes in
            precondition(count + text.count < bytes.count)
            if let start = text.baseAddress {
                unsafe bytes.baseAddress?.advanced(by: count).copyMemory(from: start, byteCount: text.count)
            }
        }
        count += text.count
    }

    func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // The rest of the array is zeros.
        unsafe withUnsafePointer(to: bytes) { unsafe body(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
    }

    /// Returns the target of the link at the path; nil if there is none. A target beyond 512 bytes is cut.
    func readLink() -> String? {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { target in
            let count = unsafe withPath { path in
                unsafe target.withMemoryRebound(to: CChar.self) { target in
                    guard let start = target.baseAddress else { return -1 }
                    return unsafe readlink(path, start, target.count)
                }
            }
            return count > 0 ? unsafe String(decoding: target[..<count], as: UTF8.self) : nil
        }
    }
}
