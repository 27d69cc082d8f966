import Configuration
import Processes
import Systemd

/// Decides, once, what holds the apps together.
enum CgroupSetUp {
    /// The cgroups for the apps, where the settings and the machine let there be some. What became of it is logged.
    ///
    /// - Parameter runtimeDirectory: What tells this daemon from others in the same place.
    static func claim(
        _ containment: Configuration.Settings.Containment, runtimeDirectory: String, log: Log
    ) -> CgroupSubtree? {
        guard containment == .auto else { return nil }
        do throws(FeatureUnavailable) {
            let subtree = try CgroupSubtree.claim(name: name(for: runtimeDirectory))
            log.write(LogEntry(message: "every app gets a control group of its own in \(subtree.path)"))
            return subtree
        } catch {
            log.write(
                LogEntry(
                    priority: .notice,
                    message: "apps are held together by process groups, which a process can leave: \(error)"))
            return nil
        }
    }

    /// Lets the apps' groups have weights, where that does not keep the service from being started again.
    static func enableControllers(of cgroups: CgroupSubtree?, isClearedAfterCrash: Bool, log: Log) {
        guard let cgroups else { return }
        do throws(FeatureUnavailable) {
            try cgroups.enableControllers(isClearedAfterCrash: isClearedAfterCrash)
        } catch {
            log.write(LogEntry(message: "the apps' control groups have no controllers: \(error)"))
        }
    }

    /// The same for the same directory, so that a daemon that died is succeeded in its place; short enough for any
    /// path. The hash is FNV-1a, which, unlike Swift's own, is the same in every run.
    static func name(for runtimeDirectory: String) -> String {
        let hash = runtimeDirectory.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "lifed-" + String(hash, radix: 16)
    }
}
