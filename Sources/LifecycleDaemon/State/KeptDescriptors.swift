import Glibc
import Processes
import Systemd

/// The descriptors that the service manager keeps for a daemon that may be killed: of each launch the pidfd of the main
/// process and the daemon's end of the channel, both under one name.
enum DescriptorStore {
    private static let prefix = "app-"
    /// All names together have to fit into one environment variable of 128 KiB, with 4,096 descriptors.
    private static let nameLength = 30

    static func name(of token: LaunchToken) -> String { String((prefix + token.rawValue).prefix(nameLength)) }

    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Has descriptors of a launch kept. Where they cannot be, the apps are found again by what is written down.
    static func keep(_ descriptors: [Int32], for token: LaunchToken, log: Log) {
        report(log) { () throws(SystemdError) in
            try ServiceManager.storeDescriptors(descriptors, name: name(of: token))
        }
    }

    /// Has nothing kept under a name any more.
    static func discard(_ name: String, log: Log) {
        report(log) { () throws(SystemdError) in try ServiceManager.discardDescriptors(name: name) }
    }

    private static func report(_ log: Log, _ operation: () throws(SystemdError) -> Void) {
        do throws(SystemdError) {
            try operation()
        } catch {
            log.write(LogEntry(priority: .warning, message: error.description))
        }
    }
}

/// What was kept for this daemon.
final class KeptDescriptors {
    private var processes: [String: Int32] = [:]
    private var channels: [String: Int32] = [:]

    /// Takes what belongs to launches out of the descriptors that were passed, and leaves the others.
    init(from passed: inout [PassedDescriptor]) {
        passed.removeAll { descriptor in
            guard DescriptorStore.isName(descriptor.name) else { return false }
            keep(descriptor)
            return true
        }
    }

    private func keep(_ passed: PassedDescriptor) {
        let replaced =
            passed.isUnixStream
            ? channels.updateValue(passed.descriptor, forKey: passed.name)
            : processes.updateValue(passed.descriptor, forKey: passed.name)
        if let replaced { close(replaced) }
    }

    /// The names under which something was kept.
    var names: Set<String> { Set(processes.keys).union(channels.keys) }

    func takeProcess(of token: LaunchToken) -> Descriptor? {
        processes.removeValue(forKey: DescriptorStore.name(of: token)).map { Descriptor(owning: $0) }
    }

    func takeChannel(of token: LaunchToken) -> Descriptor? {
        channels.removeValue(forKey: DescriptorStore.name(of: token)).map { Descriptor(owning: $0) }
    }

    /// Closes what nobody took.
    func closeRest() {
        for descriptor in processes.values { close(descriptor) }
        for descriptor in channels.values { close(descriptor) }
        processes = [:]
        channels = [:]
    }
}
