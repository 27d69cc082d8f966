import CLinux

/// Keeps a child from executing its program until the launch is on record.
///
/// The child ends without having run anything when the gate is let go of before it was opened, and so when this
/// process ends, however suddenly: a successor need not look for programs that nobody wrote down.
public struct LaunchGate: ~Copyable {
    let descriptor: Descriptor

    /// Lets the child go on. One that has ended meanwhile is no error: its end is told elsewhere.
    ///
    /// - Returns: Why it cannot be told, for want of memory for example; it then ends without having run anything.
    public consuming func open() -> SpawnError? {
        let error = -linux_open_gate(descriptor.rawValue)
        guard error > 0, error != EPIPE, error != ECONNRESET else { return nil }
        return .failed("tell the new process to begin", error)
    }
}
