import CLinux
import Glibc

/// Reads files under `/proc` and in cgroups, which may vanish between any two calls.
///
/// What is gone, forbidden or without contents reads as nil or empty. Anything else is thrown, for example the lack of a descriptor.
enum ProcFile {
    /// Does nothing about the error of a file that is gone, forbidden or without contents, and throws any other.
    static func throwUnlessGone(_ error: Int32) throws(Errno) {
        // EOPNOTSUPP: cgroup.procs of a threaded group, whose processes are listed in the domain above.
        guard [ENOENT, ESRCH, ENODEV, ENOTDIR, EACCES, EPERM, EOPNOTSUPP].contains(error) else {
            throw Errno(rawValue: error)
        }
    }

    /// Returns the first `limit` bytes of a file.
    ///
    /// - Parameter longestRecord: For a file of records, of which the kernel gives as many at once as fit into a page
    ///   (`seq_read()`): the length of the longest. A reader that gets a shorter answer has got all, and need not ask
    ///   again.
    static func read(_ path: some FilePath, limit: Int, longestRecord: Int? = nil) throws(Errno) -> [UInt8]? {
        guard let file = try open(path) else { return nil }
        var content: [UInt8] = []
        while content.count < limit {
            let size = min(limit - content.count, pageSize)
            guard let chunk = try readChunk(of: file, atMost: size) else { return nil }
            content += chunk
            if chunk.isEmpty { break }
            if let longestRecord, size == pageSize, chunk.count < size - longestRecord { break }
        }
        return content
    }

    /// Reads a file that the kernel gives as a whole in one call, as those are that have a line or a number for one process.
    ///
    /// - Returns: The result of `body`; nil if the file may be longer than 2 KiB.
    static func readWhole<Result>(
        _ path: some FilePath, _ body: (Span<UInt8>) -> Result?
    ) throws(Errno) -> Result? {
        guard let file = try open(path) else { return nil }
        return try readAgain(file.rawValue, body)
    }

    /// Reads an open file like ``readWhole(_:_:)``, from its beginning.
    static func readAgain<Result>(_ file: Int32, _ body: (Span<UInt8>) -> Result?) throws(Errno) -> Result? {
        var buffer = InlineArray<2048, UInt8>(repeating: 0)
        var bytes = buffer.mutableSpan
        let count = unsafe bytes.withUnsafeMutableBytes { bytes in
            var count = -1
            repeat {
                count = unsafe pread(file, bytes.baseAddress, bytes.count, 0)
            } while count < 0 && errno == EINTR
            return count
        }
        if count < 0 { try throwUnlessGone(errno) }
        guard (0..<2048).contains(count) else { return nil }
        return body(buffer.span.extracting(first: count))
    }

    /// Writes a decimal number to an open file of the kernel.
    ///
    /// - Returns: 0, or a negated error number.
    static func write(_ number: Int, to file: Int32) -> Int32 {
        var text = String(number)
        return text.withUTF8 { text in
            unsafe Glibc.write(file, text.baseAddress, text.count) == text.count ? 0 : -errno
        }
    }

    /// The smallest size of a page that a kernel has.
    private static let pageSize = 4096

    private static func open(_ path: some FilePath) throws(Errno) -> Descriptor? {
        do throws(Errno) {
            return try Descriptor.open(path, O_RDONLY)
        } catch {
            try throwUnlessGone(error.rawValue)
            return nil
        }
    }

    private static func readChunk(of file: borrowing Descriptor, atMost count: Int) throws(Errno) -> [UInt8]? {
        var result = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            result = unsafe read(from: file, into: UnsafeMutableRawBufferPointer(buffer))
            initialized = max(result, 0)
        }
        if result < 0 { try throwUnlessGone(errno) }
        return result < 0 ? nil : chunk
    }

    private static func read(from file: borrowing Descriptor, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = unsafe Glibc.read(file.rawValue, buffer.baseAddress, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Returns whether the kernel shows this process the links of another one, and the exit status that it has as a zombie, which is 0
    /// otherwise.
    static func mayLookInto(_ pid: ProcessID) -> Bool {
        var byte: CChar = 0
        return unsafe readlink("/proc/\(pid)/cwd", &byte, 1) >= 0 || errno != EACCES
    }

    /// Returns the entries of a directory that are process or thread numbers, at most `limit`.
    static func processIDs(in directory: String, limit: Int = .max) throws(Errno) -> [ProcessID] {
        var capacity = 64
        while true {
            var count = 0
            let ids = unsafe [ProcessID](unsafeUninitializedCapacity: capacity) { buffer, initialized in
                count = unsafe linux_list_process_ids(directory, buffer.baseAddress, capacity, limit)
                initialized = min(max(count, 0), capacity)
            }
            if count < 0 { try throwUnlessGone(Int32(-count)) }
            if count <= capacity { return ids }
            // More may have come by the time of the next call.
            capacity = count + count / 4
        }
    }
}

extension Span<UInt8> {
    /// Returns whether the first bytes are those of a text.
    func starts(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where unsafe self[index] != text.utf8Start[index] { return false }
        return true
    }

    /// Returns whether these are the bytes of a text.
    func isEqual(to text: StaticString) -> Bool { count == text.utf8CodeUnitCount && starts(with: text) }

    /// Calls a closure with each line, without its line feed.
    func forEachLine(_ body: (Span<UInt8>) -> Void) { forEachPart(before: UInt8(ascii: "\n"), body) }

    /// Calls a closure with each part that ends before a separator, or at the end.
    func forEachPart(before separator: UInt8, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < count {
            var end = start
            while end < count, self[end] != separator { end += 1 }
            body(extracting(start..<end))
            start = end + 1
        }
    }

    /// Returns the decimal number that begins here; nil if there is none, or if it is too large.
    func number<Number: FixedWidthInteger>(at position: inout Int) -> Number? {
        let isNegative = position < count && self[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let start = position
        var value: Number = 0
        while position < count, case let digit = self[position] &- UInt8(ascii: "0"), digit < 10 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(Number(digit)) : product.addingReportingOverflow(Number(digit))
            guard !overflow, !carry else { return nil }
            value = sum
            position += 1
        }
        return position > start ? value : nil
    }
}

extension FixedWidthInteger {
    /// A decimal number that fills the bytes exactly.
    init?(ascii bytes: ArraySlice<UInt8>) {
        guard let first = bytes.first, first != UInt8(ascii: "+") else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }
}

extension UInt8 {
    /// A Boolean value that indicates whether this is a letter or a digit of ASCII.
    var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            false
        }
    }
}

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
        var text = String(number)
        text.withUTF8 { unsafe append($0) }
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
