import Glibc
import Processes

/// Lets every app run again that a daemon with these options has left stopped or frozen: the fail-safe of a machine
/// without systemd, where `lifed-rescue.service` does it.
///
/// - Returns: The exit code of the process.
/// - Throws: An error whose description is one sentence; one names the daemon, where one runs and looks after the apps.
public func rescue(options: Options) throws -> Int32 {
    let places = try Places(options: options, environment: currentEnvironment())
    guard unsafe access(places.runtime, F_OK) == 0 else {
        throw StartError("there is no runtime directory \(places.runtime), so nothing was left in it")
    }
    try PrivateDirectory.make(places.runtime, mode: 0o700)
    // Held until the end: no daemon takes the apps over while they are being continued.
    let lock = try RuntimeLock.take(places)
    let report = try continueApps(leftIn: places)
    extendLifetime(lock)
    for failure in report.failures { print("lifed: \(failure)") }
    let thawed = report.thawed.isEmpty ? "" : ", \(report.thawed.count) control groups were thawed"
    print("\(report.continued.count) processes were continued\(thawed)")
    return report.failures.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE
}

/// Continues what the state in the runtime directory tells of. A daemon that is started later finds the state as it was,
/// and suspends again what was suspended.
private func continueApps(leftIn places: Places) throws -> Processes.Rescue.Report {
    guard let state = try SavedState.read(places.stateFile) else {
        throw StartError("there is no state of a daemon in \(places.runtime), so nothing is known of its apps")
    }
    let trees = state.apps.values.compactMap(\.launch).compactMap { LaunchRecord($0, desiredState: .stopped)?.tree }
    return Processes.Rescue.resumeEverything(
        in: state.cgroups.flatMap { CgroupSubtree.existing(at: $0) }, trees: trees)
}
