import Configuration
import Processes
import Systemd

/// The choice between control groups and process groups, made once at the start.
enum CgroupSetup {
    /// Claims control groups for the apps, if the settings and the machine allow it. Logs the result.
    ///
    /// - Parameter runtimeDirectory: Distinguishes this daemon from others in the same control group.
    static func claim(
        _ containment: Configuration.Settings.Containment, runtimeDirectory: String, log: any JournalSink
    ) -> CgroupSubtree? {
        guard containment == .auto else { return nil }
        do throws(FeatureUnavailable) {
            let subtree = try CgroupSubtree.claim(name: name(for: runtimeDirectory))
            log.write(.info, "lifed makes a control group for each app in \(subtree.path)")
            return subtree
        } catch {
            log.write(.notice, "cannot use control groups: \(error); using process groups, which a process can leave")
            return nil
        }
    }

    /// Enables the controllers, unless they would keep the service from being started again.
    static func enableControllers(of cgroups: CgroupSubtree?, isClearedAfterCrash: Bool, log: any JournalSink) {
        guard let cgroups else { return }
        do throws(FeatureUnavailable) {
            try cgroups.enableControllers(isClearedAfterCrash: isClearedAfterCrash)
        } catch {
            log.write(.info, "cannot use controllers in the control groups of apps: \(error); continuing without them")
        }
    }

    /// Returns the same short name for the same directory, so that a successor finds the group. The hash is FNV-1a; Swift's
    /// own differs in each run.
    private static func name(for runtimeDirectory: String) -> String {
        let hash = runtimeDirectory.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "lifed-" + String(hash, radix: 16)
    }
}
