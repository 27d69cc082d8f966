/// An attribute of an app's cgroup that a ``ResourceProfile`` decides: see the kernel's document "Control Group v2".
enum GroupAttribute: String, CaseIterable {
    case cpuWeight = "cpu.weight"
    case ioWeight = "io.weight"
    case memoryLow = "memory.low"
    case processLimit = "pids.max"

    /// What is written for a profile: what every cgroup begins with, where it wants nothing.
    func value(in profile: ResourceProfile) -> String {
        switch self {
        case .cpuWeight: String(profile.cpuWeight ?? 100)
        case .ioWeight: String(profile.ioWeight ?? 100)
        case .memoryLow: String(profile.memoryLow ?? 0)
        case .processLimit: profile.processLimit.map { String($0) } ?? "max"
        }
    }
}
