import CLinux

/// What keeps the cost of starting a program from growing with the number of descriptors that are open here.
public enum SpawnWindow {
    /// Keeps a few numbers of descriptors for `spawn(_:)`. Call it first of all: a child copies the descriptors that have
    /// lower numbers.
    ///
    /// - Throws: Why it cannot be, on Linux before 5.9 for example. Programs are started all the same then, only slower.
    public static func reserve() throws(Errno) {
        let result = linux_reserve_window()
        guard result == 0 else { throw Errno(rawValue: -result) }
    }
}
