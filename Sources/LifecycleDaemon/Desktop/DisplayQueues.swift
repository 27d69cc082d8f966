import Glibc
import LifecycleCore
import Processes
import Systemd

/// Resumes a suspended app before the display server disconnects it for the events that it has not read.
///
/// A Wayland compositor disconnects a client whose socket is full: after some 277 events, which the kernel counts as 768 bytes at least.
/// A duplicate of the app's socket, never read, wakes the daemon for each event. An X server keeps the events of its clients.
final class DisplayQueues {
    private let loop: EventLoop
    private let core: CoreDriver
    private let log: any JournalSink
    private let report: (Set<AppIndex>, AnyObject) -> Void
    private var watched: [AppIndex: [DisplayConnection]] = [:]
    /// The apps that have been resumed to read their events.
    private var reading: [AppIndex: Reading] = [:]
    /// Apps that ran and did not read. They are left alone until they read, or come to the foreground.
    private var unresponsive: Set<AppIndex> = []
    private let timer: TimerSource
    /// The sockets of the machine in this round of the loop.
    private var sockets: (round: UInt64, byPeer: [UInt32: UnixSocket])?
    private var hasReported = false

    private struct Reading {
        let inodes: [UInt32]
        let end: UInt64
    }

    /// The limits of what is watched.
    private static let appLimit = 64
    private static let connectionLimit = 8
    /// The time in which an app must read its events, and the pause between looks meanwhile, in microseconds.
    private static let readingTime: UInt64 = 5_000_000
    private static let pause: UInt64 = 50_000

    /// - Parameter report: Called with the apps that have events to read, and the reporter.
    init(
        loop: EventLoop, core: CoreDriver, log: any JournalSink,
        report: @escaping (Set<AppIndex>, AnyObject) -> Void
    ) throws(SystemdError) {
        self.loop = loop
        self.core = core
        self.log = log
        self.report = report
        let owner = Owner<DisplayQueues>()
        timer = try loop.timer { owner.object?.checkReading() }
        owner.object = self
    }

    /// Watches the display connections of an app that is suspended.
    ///
    /// - Parameter openSockets: Those of all its processes.
    func begin(_ app: AppIndex, _ openSockets: [OpenFile]) {
        guard watched[app] == nil, watched.count < Self.appLimit, !unresponsive.contains(app) else { return }
        let connections = displaySockets(among: openSockets).prefix(Self.connectionLimit).map {
            connection(of: app, $0)
        }
        guard !connections.isEmpty else { return }
        watched[app] = connections
        look(at: app)
    }

    func end(_ app: AppIndex) { watched[app] = nil }

    func entered(_ state: AppState, _ app: AppIndex) {
        switch state {
        case .inactive, .active: unresponsive.remove(app)
        case .notRunning:
            unresponsive.remove(app)
            if reading.removeValue(forKey: app) != nil { reportReading() }
        case .background, .suspended, .terminating: break
        }
    }

    /// Looks at the connections that cannot be watched.
    func look() {
        for (app, connections) in watched where connections.contains(where: { !$0.isWatched }) { look(at: app) }
    }

    private func look(at app: AppIndex) {
        guard let connections = watched[app], reading[app] == nil else { return }
        guard connections.contains(where: { DisplayFill(of: $0.inode).isHigh }) else { return }
        reading[app] = Reading(inodes: connections.map(\.inode), end: loop.freshNow + Self.readingTime)
        timer.arm(atMicroseconds: loop.freshNow + Self.pause)
        reportReading()
    }

    private func checkReading() {
        let before = reading.count
        for (app, pending) in reading {
            let isDone = pending.inodes.allSatisfy { DisplayFill(of: $0).isLow }
            guard isDone || loop.now >= pending.end else { continue }
            reading[app] = nil
            if !isDone { noteUnresponsive(app) }
        }
        if !reading.isEmpty { timer.arm(atMicroseconds: loop.freshNow + Self.pause) }
        if reading.count != before { reportReading() }
    }

    private func noteUnresponsive(_ app: AppIndex) {
        unresponsive.insert(app)
        watched[app] = nil
        let id = core.id(of: app)
        log.write(
            LogEntry(
                priority: .notice,
                message: "cannot keep \(id) connected to the display server: it runs and does not read its events; "
                    + "suspending it all the same",
                fields: [("LIFED_APP", id.name)]))
    }

    private func reportReading() { report(Set(reading.keys), self) }
}

// MARK: - Connections

extension DisplayQueues {
    /// A socket of a process, and the display server's end of it.
    private struct DisplaySocket {
        let pid: ProcessID
        let number: Int32
        let inode: UInt32
        let server: UInt32
    }

    private func displaySockets(among openSockets: [OpenFile]) -> [DisplaySocket] {
        var found: [UInt32: DisplaySocket] = [:]
        for file in openSockets {
            guard let inode = file.socket, found[inode] == nil, let server = socketsByPeer()[inode] else { continue }
            found[inode] = DisplaySocket(pid: file.process, number: file.number, inode: inode, server: server.inode)
        }
        return Array(found.values)
    }

    /// Returns the display servers' ends by the inode of the clients' ends. One look serves all apps of a round.
    private func socketsByPeer() -> [UInt32: UnixSocket] {
        if let sockets, sockets.round == loop.now { return sockets.byPeer }
        var byPeer: [UInt32: UnixSocket] = [:]
        do throws(Errno) {
            for socket in try UnixSocket.all() where socket.isOfDisplayServer { byPeer[socket.peer] = socket }
        } catch {
            reportOnce(
                "cannot look at the display connections of suspended apps: \(error); their display server may disconnect them"
            )
        }
        sockets = (loop.now, byPeer)
        return byPeer
    }

    private func connection(of app: AppIndex, _ socket: DisplaySocket) -> DisplayConnection {
        let connection = DisplayConnection(inode: socket.server)
        do throws(Errno) {
            let duplicate = try ForeignSocket(socket.number, of: socket.pid, inode: socket.inode)
            try? connection.watch(duplicate, in: loop) { [weak self] in self?.look(at: app) }
        } catch {
            // A process that has just ended has no connection to lose.
            if error.rawValue != ESRCH {
                reportOnce(
                    "cannot watch the display connections of suspended apps: pidfd_getfd: \(error); looking at them after each change instead"
                )
            }
        }
        return connection
    }

    private func reportOnce(_ problem: String) {
        guard !hasReported else { return }
        hasReported = true
        log.write(.notice, problem)
    }
}

extension UnixSocket {
    /// A Boolean value that indicates whether a Wayland compositor listens at the address: `wayland-0` in a runtime directory, or
    /// the socket that Flatpak makes for a sandbox.
    fileprivate var isOfDisplayServer: Bool {
        guard let name = address.split(separator: UInt8(ascii: "/")).last else { return false }
        return name.starts(with: "wayland-".utf8) || name.starts(with: "flatpak-wayland-".utf8)
    }
}

/// The share of a connection's buffer that unread events take.
struct DisplayFill {
    private let unread: UInt64
    private let buffer: UInt64

    /// The fill of a connection that has ended is low.
    init(of inode: UInt32) {
        let socket = try? UnixSocket(inode: inode)
        unread = UInt64(socket?.unread ?? 0)
        buffer = UInt64(socket?.buffer ?? 0)
    }

    /// At half, some 138 events are left until the buffer is full: time to resume the app under a flood of events.
    var isHigh: Bool { buffer > 0 && unread * 2 >= buffer }
    var isLow: Bool { unread * 10 <= buffer }
}

/// A connection of a suspended app to a display server.
final class DisplayConnection {
    /// The inode of the server's end.
    let inode: UInt32
    private var socket: ForeignSocket?
    private var sources: [IOSource] = []

    init(inode: UInt32) { self.inode = inode }

    isolated deinit { endWatch() }

    /// A Boolean value that indicates whether an event of the display server wakes the daemon.
    var isWatched: Bool { socket != nil }

    func watch(
        _ duplicate: consuming ForeignSocket, in loop: EventLoop, onEvent: @escaping () -> Void
    ) throws(SystemdError) {
        // Edge-triggered: unread events would wake the daemon without end.
        let events = try loop.watch(descriptor: duplicate.descriptor, events: [.readable, .edgeTriggered]) {
            [weak self] in
            // The server has gone: nothing can fill any more.
            if $0.contains(.hangUp) { self?.endWatch() } else { onEvent() }
        }
        do throws(SystemdError) {
            // The duplicate must not keep the connection of a process that has ended.
            let end = try loop.watch(descriptor: duplicate.processDescriptor, events: .readable) { [weak self] _ in
                self?.endWatch()
            }
            sources = [events, end]
        } catch {
            // The duplicate is about to be closed, and the kernel goes on to watch the socket behind it.
            events.cancel()
            throw error
        }
        socket = consume duplicate
    }

    private func endWatch() {
        for source in sources { source.cancel() }
        sources = []
        socket = nil
    }
}
