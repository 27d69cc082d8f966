import CLinux
import Glibc

/// The program that becomes the parent of an app without a control group, and the directory of its sockets.
public struct KeeperProgram: Sendable {
    let path: String
    private let directory: String

    /// - Parameters:
    ///   - path: The path of lifed-keeper.
    ///   - directory: A directory that only the user of the daemon can search.
    public init(path: String, directory: String) {
        (self.path, self.directory) = (path, directory)
    }

    /// Makes the socket that the keeper of a launch listens at.
    func listen(for token: LaunchToken) throws(SpawnError) -> Descriptor {
        let socket = unsafe linux_listen_for_packets(directory, token.rawValue)
        guard socket >= 0 else { throw .failed("make the socket of a keeper", -socket) }
        return Descriptor(owning: socket)
    }

    /// Connects to that socket. The keeper accepts the connection when it runs.
    func connect(for token: LaunchToken) throws(SpawnError) -> Descriptor {
        let line = unsafe linux_connect_for_packets(directory, token.rawValue)
        guard line >= 0 else { throw .failed("connect to a keeper", -line) }
        return Descriptor(owning: line)
    }

    /// Returns the keeper of a launch of the previous daemon, which may have ended.
    func find(_ process: ProcessIdentity, of token: LaunchToken) -> Keeper {
        Keeper(process, line: (try? process.exists()) == true ? try? connect(for: token) : nil)
    }

    /// Returns a tree for each launch of an earlier process that has a keeper but no record: it was lost, or never written. Ends the
    /// keepers that have no child left.
    func takeUnknownTrees(besides known: Set<LaunchToken>) -> [SavedTree] {
        let tokens = (fileNames(in: directory) ?? []).compactMap { LaunchToken(rawValue: $0) }
        return tokens.filter { !known.contains($0) }.compactMap { token in
            do throws(Errno) {
                if let tree = try findTree(of: token) { return tree }
                release(token)
            } catch {
                // The next daemon tries again.
            }
            return nil
        }
    }

    private func findTree(of token: LaunchToken) throws(Errno) -> SavedTree? {
        guard let keeper = try findListener(of: token), let main = try keeper.findOldestChild() else { return nil }
        var tree = SavedTree(token: token, main: main)
        tree.keeper = keeper.identity
        tree.desiredState = .stopped
        return tree
    }

    /// Returns the keeper that listens at a socket. Until it does, the kernel names the daemon that has made the socket.
    private func findListener(of token: LaunchToken) throws(Errno) -> ProcessStatus? {
        let line: Descriptor
        do throws(SpawnError) { line = try connect(for: token) } catch {
            if case .resources(let error) = error { throw error }
            return nil
        }
        var peer = linux_peer()
        guard unsafe linux_peer_credentials(line.rawValue, &peer) == 0,
            let status = try ProcessStatus(of: peer.process), path.hasSuffix("/" + status.name)
        else { return nil }
        return status
    }

    /// Ends the keeper of a launch.
    func release(_ token: LaunchToken) {
        do throws(SpawnError) {
            let line = try connect(for: token)
            _ = Keeper.send(LINUX_KEEPER_RELEASE, over: line.rawValue)
        } catch {
            // The next daemon tries again.
            if case .resources = error { return }
        }
        removeSocket(for: token)
    }

    func removeSocket(for token: LaunchToken) { _ = unsafe unlink("\(directory)/\(token)") }
}

/// The parent of an app without a control group, and the line on which it tells how its children end, stop and continue.
///
/// It is the child subreaper of all that the app starts, whether a daemon runs or not. News stay with the keeper until they are
/// confirmed, so the next daemon learns what happened without one.
final class Keeper {
    let process: ProcessIdentity
    /// Closed with the keeper.
    private let line: Descriptor?
    /// Becomes readable with each news, and when the keeper ends. Nil if this process could not connect to it.
    let descriptor: Int32?
    private var isClosed = false
    private var latest: UInt32?

    init(_ process: ProcessIdentity, line: consuming Descriptor?) {
        self.process = process
        descriptor = line?.rawValue
        self.line = line
    }

    func hasEnded() throws(Errno) -> Bool { try isClosed ? true : process.hasEnded() }

    /// True while the keeper can tell what happens.
    var isConnected: Bool { descriptor != nil && !isClosed }

    /// Returns the next change of a child; nil if there is none now, or the keeper has ended.
    func next() -> ChildEvent? {
        guard !isClosed, let descriptor else { return nil }
        var news = linux_keeper_news()
        let size = MemoryLayout<linux_keeper_news>.size
        while true {
            let count = unsafe recv(descriptor, &news, size, Int32(MSG_DONTWAIT))
            if count == size {
                latest = news.number
                let event = linux_child_event(pid: news.pid, code: news.code, status: news.status)
                if let known = ChildEvent(event) { return known }
            } else if count >= 0 || errno != EAGAIN && errno != EINTR {
                isClosed = true
                return nil
            } else if errno == EAGAIN {
                return nil
            }
        }
    }

    /// Lets the keeper reap its children. Before that, the main process keeps its number.
    ///
    /// - Returns: False, with errno, if the keeper cannot be told.
    func begin(_ main: ProcessIdentity) -> Bool { send(UInt32(main.pid)) }

    /// Lets the keeper forget the news so far. Call it when their effects are on record.
    func confirm() {
        if let number = latest, send(number) { latest = nil }
    }

    /// Ends the keeper. Its children, mostly helpers that serve other apps too, go to the next subreaper.
    func release() { _ = send(LINUX_KEEPER_RELEASE) }

    private func send(_ number: UInt32) -> Bool { descriptor.map { Self.send(number, over: $0) } ?? false }

    fileprivate static func send(_ number: UInt32, over descriptor: Int32) -> Bool {
        unsafe withUnsafeBytes(of: number) { bytes in
            unsafe Glibc.send(
                descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }
}

extension ProcessStatus {
    /// Returns the oldest child. Of the kernel's list, which skips a child for each that is reaped meanwhile, the first entry is exact.
    fileprivate func findOldestChild() throws(Errno) -> ProcessIdentity? {
        while let first = try Children().of(pid, threadCount: 1).first {
            if let status = try ProcessStatus(of: first), status.parent == pid { return status.identity }
        }
        return nil
    }
}
