import AppChannel
import Glibc
import Processes
import Systemd

/// The socket on which apps connect that the daemon did not launch, or whose channel was lost with the previous daemon.
///
/// The kernel identifies the process that connects.
final class AppSocket {
    private let path: String
    private let descriptor: Descriptor
    private let admit: (PeerConnection) -> Void
    private let loop: EventLoop
    private let source: IOSource
    private let retry: TimerSource

    /// The pause after a failure to accept, in microseconds.
    private static let retryDelay: UInt64 = 250_000
    private static let batchSize = 16

    init(at path: String, mode: mode_t, loop: EventLoop, admit: @escaping (PeerConnection) -> Void) throws {
        self.path = path
        self.admit = admit
        self.loop = loop
        descriptor = try UnixListener.open(at: path, mode: mode)
        let owner = Owner<AppSocket>()
        source = try loop.watch(descriptor: descriptor.rawValue, events: .readable) { _ in owner.object?.accept() }
        retry = try loop.timer { owner.object?.source.isEnabled = true }
        owner.object = self
    }

    func close() {
        source.cancel()
        _ = unsafe unlink(path)
    }

    private func accept() {
        for _ in 0..<Self.batchSize {
            let number = UnixListener.accept(on: descriptor.rawValue)
            switch -number {
            case ...0: identify(Descriptor(owning: number))
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return
            default: return pause()
            }
        }
    }

    /// Stops accepting for a while: without a descriptor or memory the socket stays readable, and the loop would spin.
    private func pause() {
        source.isEnabled = false
        retry.arm(atMicroseconds: loop.freshNow + Self.retryDelay)
    }

    private func identify(_ connection: consuming Descriptor) {
        if let peer = PeerConnection(consume connection) { admit(peer) }
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
