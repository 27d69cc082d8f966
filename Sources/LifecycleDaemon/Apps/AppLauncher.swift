import AppChannel
import Glibc
import LifecycleCore
import Processes
import Systemd

/// Why an app cannot be started, before its program is even tried.
struct LaunchError: Error, CustomStringConvertible {
    let description: String
}

/// Makes a spawn request from an app's definition: user, environment, directories, output.
struct AppLauncher {
    let isSystem: Bool
    let stateDirectory: String
    /// Where an app gets a channel again that it has lost.
    let returnSocket: String
    let environment: AppEnvironment
    let usesJournal: Bool
    let descriptorLimit: UInt64?

    /// The number under which an app finds its end of the channel.
    private static let channelNumber: Int32 = 3

    /// The request. It borrows the output and the channel, which have to live until the spawn.
    ///
    /// - Parameters:
    ///   - url: What it is launched to open, if anything.
    ///   - channel: The app's end of its channel; nil for an app without one.
    func request(
        for id: AppID, _ definition: AppDefinition, launch: LaunchFields, url: String?, output: AppOutput,
        channel: borrowing Descriptor?
    ) throws(LaunchError) -> SpawnRequest {
        let account = try account(of: definition.user)
        let privateDirectory = try makeStateDirectory(for: id, account)
        let command = definition.command(opening: url)
        var request = SpawnRequest(
            program: command.first ?? "", arguments: Array(command.dropFirst()),
            environment: environment.environment(
                of: id, definition, launch: launch, account: account, stateDirectory: privateDirectory))
        let home = account?.home ?? environment.daemon["HOME"]
        request.workingDirectory = definition.workingDirectory ?? (isSystem && account == nil ? "/" : home ?? "/")
        if let account, account.userID != geteuid() { request.credentials = account.credentials }
        request.descriptorLimit = descriptorLimit
        request.confinement = definition.confinement
        request.standardOutput = output.standardOutput
        request.standardError = output.standardError
        if let number = channelDescriptor(channel) {
            request.environment[AppProtocol.descriptorVariable] = String(Self.channelNumber)
            request.environment[AppProtocol.socketVariable] = returnSocket
            request.extraDescriptors = [DescriptorMapping(source: number, target: Self.channelNumber)]
        }
        return request
    }

    private func channelDescriptor(_ channel: borrowing Descriptor?) -> Int32? {
        switch channel {
        case .some(let descriptor): descriptor.rawValue
        case .none: nil
        }
    }

    private func account(of user: AppDefinition.User) throws(LaunchError) -> UserAccount? {
        do throws(UserLookupError) {
            switch user {
            case .daemon: return nil
            case .named(let name): return try UserAccount.named(name)
            case .numbered(let number): return number == geteuid() ? nil : try UserAccount.withUserID(number)
            }
        } catch {
            throw LaunchError(description: error.description)
        }
    }

    /// Removes the directory of an app that is forgotten, unless the app has left something in it. Whoever gives the
    /// id to another app, perhaps somebody else, could otherwise not have it.
    func removeEmptyStateDirectory(of id: AppID) {
        _ = unsafe rmdir(ownDirectory(of: id))
    }

    private var appsDirectory: String { stateDirectory + "/apps" }

    private func ownDirectory(of id: AppID) -> String { appsDirectory + "/" + id.name }

    /// The app's own directory: kept across launches, and nobody else's.
    private func makeStateDirectory(for id: AppID, _ account: UserAccount?) throws(LaunchError) -> String {
        let own = ownDirectory(of: id)
        do throws(DirectoryError) {
            // The apps' users go through these to their own, and see nothing else.
            try PrivateDirectory.make(stateDirectory, mode: isSystem ? 0o711 : 0o700)
            try PrivateDirectory.add(appsDirectory, mode: isSystem ? 0o711 : 0o700)
            try PrivateDirectory.add(own, mode: 0o700, owner: account.map { ($0.userID, $0.groupID) })
        } catch {
            throw LaunchError(description: error.description)
        }
        return own
    }
}

/// Where an app's output goes: to the journal under the app's own name, or where the daemon's goes.
final class AppOutput {
    /// Nil for nowhere: the journal cannot be had, so the daemon's own output, which is the journal's too, is no way
    /// out. Who writes to a stream whose journald is gone is ended by SIGPIPE.
    let standardOutput: Int32?
    let standardError: Int32?

    init(_ id: AppID, usesJournal: Bool) {
        if usesJournal {
            standardOutput = Self.stream(of: id, priority: .info)
            standardError = Self.stream(of: id, priority: .warning)
        } else {
            standardOutput = Self.copyOfStandardError()
            standardError = Self.copyOfStandardError()
        }
    }

    deinit {
        for descriptor in [standardOutput, standardError] {
            if let descriptor { close(descriptor) }
        }
    }

    private static func stream(of id: AppID, priority: Journal.Priority) -> Int32? {
        (try? Journal().streamDescriptor(identifier: id.name, priority: priority))?.release()
    }

    private static func copyOfStandardError() -> Int32? {
        let descriptor = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
        return descriptor < 0 ? nil : descriptor
    }
}
