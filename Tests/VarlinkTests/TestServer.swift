import Glibc
import TestSupport

@testable import Varlink

/// A service on a real socket, served by a thread until it is let go.
///
/// It knows `org.example.Echo` (answers with its text), `Count` (streams the numbers up to its own), `Flood` (streams
/// without end), `Silent` (never answers), `Hangup` (closes), `Garbage` and `Refuse`.
final class TestServer: Sendable {
    private let directory: TemporaryDirectory
    private let listener: ListeningSocket
    private let stop: (read: CInt, write: CInt)
    private let thread: pthread_t

    var path: String { listener.path }

    init() throws {
        directory = try TemporaryDirectory()
        listener = try ListeningSocket(at: directory.path + "/socket")
        var pipe: [CInt] = [0, 0]
        guard unsafe Glibc.pipe(&pipe) == 0 else { throw FailedCall("pipe") }
        stop = (pipe[0], pipe[1])
        thread = try startThread { [listener, stop] in Loop(listener: listener.descriptor, stop: stop.read).run() }
    }

    deinit {
        close(stop.write)
        pthread_join(thread, nil)
        close(stop.read)
    }
}

private final class ThreadBody {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

private func startThread(_ body: @escaping @Sendable () -> Void) throws -> pthread_t {
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    let result = unsafe pthread_create(
        &thread, nil,
        { argument in
            guard let argument = unsafe argument else { return nil }
            unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, argument)
    guard result == 0 else { throw FailedCall("pthread_create", errno: result) }
    return thread
}

/// Serves with poll(2), one descriptor for each client.
private final class Loop {
    private let listener: CInt
    private let stop: CInt
    private var clients: [CInt: Peer] = [:]

    private struct Peer {
        var connection = ServerConnection(
            limits: ConnectionLimits(queuedOutput: 32 << 10), overrunReply: overrunReply)
        var flood: Call.ID?
    }

    init(listener: CInt, stop: CInt) {
        self.listener = listener
        self.stop = stop
    }

    func run() {
        while true {
            var entries = [entry(stop, POLLIN), entry(listener, POLLIN)]
            for (descriptor, peer) in clients {
                let output = peer.connection.pendingOutput.isEmpty ? 0 : POLLOUT
                entries.append(entry(descriptor, (peer.connection.wantsInput ? POLLIN : 0) | output))
            }
            unsafe poll(&entries, nfds_t(entries.count), -1)
            if entries[0].revents != 0 { break }
            if entries[1].revents != 0 { accept() }
            for entry in entries.dropFirst(2) where entry.revents != 0 { serve(entry.fd) }
        }
        for descriptor in clients.keys { close(descriptor) }
    }

    private func entry(_ descriptor: CInt, _ events: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }

    private func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        if descriptor >= 0 { clients[descriptor] = Peer() }
    }

    private func serve(_ descriptor: CInt) {
        guard var peer = clients.removeValue(forKey: descriptor) else { return }
        if read(descriptor, &peer), (try? answer(&peer, descriptor)) ?? false, write(descriptor, &peer),
            !peer.connection.isFinished
        {
            clients[descriptor] = peer
        } else {
            close(descriptor)
        }
    }

    private func read(_ descriptor: CInt, _ peer: inout Peer) -> Bool {
        guard peer.connection.wantsInput else { return true }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        if count > 0 { peer.connection.receive(buffer[..<count]) }
        return count > 0 || (count < 0 && errno == EAGAIN)
    }

    private func write(_ descriptor: CInt, _ peer: inout Peer) -> Bool {
        while !peer.connection.pendingOutput.isEmpty {
            let count = unsafe peer.connection.pendingOutput.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            guard count >= 0 else { return errno == EAGAIN }
            peer.connection.consumeOutput(count)
        }
        return true
    }

    /// False to hang up.
    private func answer(_ peer: inout Peer, _ descriptor: CInt) throws -> Bool {
        while let call = try peer.connection.nextCall() {
            switch call.methodName {
            case "Echo": peer.connection.send(VarlinkReply(try call.parameters(as: [String: String].self)), to: call.id)
            case "Count":
                let end = try call.parameters(as: [String: Int64].self)["end"] ?? 0
                for number in 0..<end { peer.connection.send(.continuing(["number": number]), to: call.id) }
                peer.connection.send(VarlinkReply(["number": end]), to: call.id)
            case "Flood":
                // More than the socket buffers of both ends and the queue hold together.
                let text = String(repeating: "x", count: 1000)
                while peer.connection.send(.continuing(["text": text]), to: call.id) == .queued {
                    guard write(descriptor, &peer) else { return false }
                }
            case "Silent": return true
            case "Garbage":
                let bytes = Array("garbage\0".utf8)
                _ = unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
            case "Refuse": peer.connection.send(.error("org.example.No", ["why": "because"]), to: call.id)
            default: return false
            }
        }
        return true
    }
}
