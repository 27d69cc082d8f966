import CLinux
import Glibc
import Processes
import Systemd

/// The descriptors that the service manager stores for the next daemon: for each launch the pidfd of the main process and the
/// daemon's end of the channel, under one name.
enum DescriptorStore {
    private static let prefix = "app-"
    /// All names must fit into one environment variable of 128 KiB, with 4,096 descriptors.
    private static let nameLength = 30

    static func name(of token: LaunchToken) -> String {
        String(decoding: (prefix + token.rawValue).utf8.prefix(nameLength), as: UTF8.self)
    }

    static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// Stores the descriptors of a launch. If that fails, the next daemon finds the processes by the saved state.
    static func store(_ descriptors: [Int32], for token: LaunchToken, log: any JournalSink) {
        report(log) { () throws(SystemdError) in
            try ServiceManager.storeDescriptors(descriptors, name: name(of: token))
        }
    }

    static func discard(_ name: String, log: any JournalSink) {
        report(log) { () throws(SystemdError) in try ServiceManager.discardDescriptors(name: name) }
    }

    private static func report(_ log: any JournalSink, _ operation: () throws(SystemdError) -> Void) {
        do throws(SystemdError) {
            try operation()
        } catch {
            log.write(.warning, error.description)
        }
    }
}

/// The descriptors that were stored for this daemon.
final class StoredDescriptors {
    private var processes: [String: Int32] = [:]
    private var channels: [String: Int32] = [:]

    /// Takes the descriptors of launches out of those that were passed.
    init(from passed: inout [PassedDescriptor]) {
        passed.removeAll { descriptor in
            guard DescriptorStore.isName(descriptor.name) else { return false }
            insert(descriptor)
            return true
        }
    }

    private func insert(_ passed: PassedDescriptor) {
        guard passed.isUnixStream else {
            if let former = processes.updateValue(passed.descriptor, forKey: passed.name) { close(former) }
            return
        }
        // An app that has reconnected has closed its former channel. A service manager may return the two in any order.
        var unused = channels.updateValue(passed.descriptor, forKey: passed.name)
        if let former = unused, !Self.hasEnded(former), Self.hasEnded(passed.descriptor) {
            channels[passed.name] = former
            unused = passed.descriptor
        }
        if let unused {
            shutdown(unused, Int32(SHUT_RDWR))
            close(unused)
        }
    }

    /// Returns whether the app has closed its end of a channel.
    private static func hasEnded(_ channel: Int32) -> Bool {
        var polled = pollfd(fd: channel, events: 0, revents: 0)
        return unsafe poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLHUP) != 0
    }

    var names: Set<String> { Set(processes.keys).union(channels.keys) }

    func takeProcess(of token: LaunchToken) -> Descriptor? { Self.take(token, from: &processes) }
    func takeChannel(of token: LaunchToken) -> Descriptor? { Self.take(token, from: &channels) }

    private static func take(_ token: LaunchToken, from stored: inout [String: Int32]) -> Descriptor? {
        // Without a service manager none is stored, and no name is made.
        guard !stored.isEmpty else { return nil }
        return stored.removeValue(forKey: DescriptorStore.name(of: token)).map { Descriptor(owning: $0) }
    }

    func closeRest() {
        for descriptor in [processes, channels].flatMap(\.values) { close(descriptor) }
        (processes, channels) = ([:], [:])
    }
}
