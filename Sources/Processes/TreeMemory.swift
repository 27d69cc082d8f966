extension ProcessTree {
    /// The memory that comes back when the tree ends, in bytes: what its cgroup is charged with, or, without the memory
    /// controller, what its processes hold for themselves. Pages that they share with one another are left out then.
    ///
    /// It takes no lock of a process, so that one that waits for memory keeps nobody waiting.
    public var ownMemory: Int {
        cgroup?.memoryInUse ?? containment.members().reduce(0) { $0 + MemoryMap.ownSize(of: $1.pid) }
    }
}
