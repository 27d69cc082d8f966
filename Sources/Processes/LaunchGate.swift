import CLinux

/// Keeps a child from executing its program until the launch is on record.
///
/// The child ends without having run anything when the gate is let go of before it was opened, and so when this
/// process ends, however suddenly: a successor need not look for programs that nobody wrote down.
public struct LaunchGate: ~Copyable {
    let descriptor: Descriptor

    /// Lets the child go on. One that has ended meanwhile is no error: its end is told elsewhere.
    public consuming func open() {
        _ = linux_open_gate(descriptor.rawValue)
    }
}
