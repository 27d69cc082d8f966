internal import AppChannel
internal import CAppClient

/// The state that an app saves for its next launch: one file in its state directory, which is replaced as a whole.
public enum AppSavedState {
    /// The most bytes that are kept.
    public static let limit = 1 << 20

    /// Says what the file is, and which version of it.
    private static let mark = Array("lifecyc1".utf8)
    private static let headerLength = mark.count + 16

    /// Replaces the saved state, in the directory that `LIFECYCLE_STATE_DIR` names, and waits for the disk.
    ///
    /// - Throws: ``SystemError``: EFBIG for a state above the limit, ENOENT without a directory, and the errors of open(2),
    ///   write(2), fsync(2) and rename(2).
    public static func save(_ state: [UInt8]) throws(SystemError) {
        guard state.count <= limit else { throw SystemError(code: lifecycle_file_too_big()) }
        guard let directory = unsafe lifecycle_state_directory() else { throw .last }
        let file = encode(state)
        guard unsafe lifecycle_replace_file(directory, AppProtocol.stateFile, file, file.count) == 0 else {
            throw .last
        }
    }

    /// Returns the saved state.
    ///
    /// - Throws: ``SystemError``: ENOENT without a saved state, EBADMSG if it is damaged.
    public static func load() throws(SystemError) -> [UInt8] {
        guard let directory = unsafe lifecycle_state_directory() else { throw .last }
        var count: Int64 = 0
        // A byte more than can be right, so that a file that is too long is seen to be.
        let capacity = headerLength + limit + 1
        let file = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { bytes, filled in
            unsafe count = lifecycle_read_file(directory, AppProtocol.stateFile, bytes.baseAddress, bytes.count)
            filled = max(0, Int(count))
        }
        guard count >= 0 else { throw .last }
        guard let state = decode(file) else { throw SystemError(code: lifecycle_bad_message()) }
        return state
    }

    /// Returns the mark, the length and a hash of the state, and the state: a reader recognizes half of a file.
    private static func encode(_ state: [UInt8]) -> [UInt8] {
        mark + bytes(of: UInt64(state.count)) + bytes(of: hash(state[...])) + state
    }

    private static func decode(_ file: [UInt8]) -> [UInt8]? {
        guard file.count >= headerLength, file.starts(with: mark) else { return nil }
        let state = file[headerLength...]
        let header = mark + bytes(of: UInt64(state.count)) + bytes(of: hash(state))
        return state.count <= limit && file.starts(with: header) ? Array(state) : nil
    }

    /// Returns the hash FNV-1a, which every changed byte changes.
    private static func hash(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// Returns the bytes of a number, the least significant first.
    private static func bytes(of number: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
