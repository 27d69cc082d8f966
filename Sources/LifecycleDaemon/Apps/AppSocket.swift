import AppChannel
import CLinux
import Glibc
import Processes
import Systemd

/// The socket on which apps connect that the daemon did not launch, or whose channel was lost with the previous daemon.
///
/// The kernel identifies the process that connects.
final class AppSocket {
    private let path: String
    private let descriptor: Descriptor
    private let source: IOSource
    private let retry: TimerSource

    /// The pause after a failure to accept, in microseconds.
    private static let retryDelay: UInt64 = 250_000
    private static let batchSize = 16

    private init(at path: String, mode: mode_t, events: Events) throws {
        self.path = path
        descriptor = try UnixListener.open(at: path, mode: mode)
        source = try events.watch(descriptor.rawValue, for: .readable) { _ in .appsConnect }
        retry = try events.timer(.appsConnect)
    }

    /// - Returns: Nil if the socket cannot be opened.
    static func listen(at path: String, isSystem: Bool, events: Events, log: any JournalSink) -> AppSocket? {
        do {
            // Apps of other users connect too; the kernel identifies the process.
            return try AppSocket(at: path, mode: isSystem ? 0o666 : 0o600, events: events)
        } catch {
            log.write(.warning, String(describing: error))
            return nil
        }
    }

    func close() {
        source.cancel()
        _ = unsafe unlink(path)
    }

    /// Accepts the processes that connect. The others follow in the next round of the loop.
    func accept() -> [PeerConnection] {
        source.isEnabled = true
        var peers: [PeerConnection] = []
        for _ in 0..<Self.batchSize {
            let number = linux_accept(descriptor.rawValue)
            switch -number {
            case ...0: if let peer = PeerConnection(Descriptor(owning: number)) { peers.append(peer) }
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return peers
            default:
                // Without a descriptor or memory the socket stays readable, and the loop would spin.
                source.isEnabled = false
                retry.arm(afterMicroseconds: Self.retryDelay)
                return peers
            }
        }
        return peers
    }
}

/// A connection of a process that the kernel has identified.
final class PeerConnection {
    let credentials: PeerCredentials
    private let process: PeerProcess
    private var descriptor: Descriptor?
    let number: Int32

    /// Nil if the process has ended, or has no number in the daemon's PID namespace.
    init?(_ descriptor: consuming Descriptor) {
        number = descriptor.rawValue
        guard let credentials = PeerCredentials(of: number), credentials.process > 0,
            let process = PeerProcess(of: number, number: credentials.process), process.lives
        else { return nil }
        self.credentials = credentials
        self.process = process
        self.descriptor = consume descriptor
    }

    /// A Boolean value that indicates whether the process has not ended, so that its number is its own.
    var lives: Bool { process.lives }

    func takeDescriptor() -> Descriptor? { descriptor.take() }

    /// Returns the first line without its end, or as many bytes as no line has, and leaves them there; nil if neither has come.
    func peekLine() -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: AppProtocol.maximumLineLength)
        let count = unsafe recv(number, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        let received = bytes.prefix(max(0, count))
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) { return received[..<end] }
        return count == bytes.count ? received : nil
    }

    /// Sends a message that must not wait. A failure shows at the end of the connection.
    func send(_ message: MessageToApp) {
        guard let bytes = try? message.encoded() else { return }
        _ = unsafe Glibc.send(number, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
}
