/// An attribute of an app's cgroup that a ``ResourceProfile`` decides: see the kernel's document "Control Group v2".
enum GroupAttribute: String, CaseIterable {
    case cpuWeight = "cpu.weight"
    case ioWeight = "io.weight"
    case memoryLow = "memory.low"

    /// What is written for a profile: what every cgroup begins with, where it wants nothing.
    func value(in profile: ResourceProfile) -> Int {
        switch self {
        case .cpuWeight: profile.cpuWeight ?? 100
        case .ioWeight: profile.ioWeight ?? 100
        case .memoryLow: profile.memoryLow ?? 0
        }
    }
}
