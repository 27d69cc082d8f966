internal import CAppClient

/// The app's end of the channel. Nothing waits, whatever the other end does.
struct Channel {
    enum Receipt {
        case bytes([UInt8])
        case wouldBlock
        case ended
    }

    enum Dispatch {
        case sent(Int)
        case wouldBlock
        case ended
    }

    /// The number of bytes of one read. Lines are short, and seldom follow one another.
    private static let pieceLength = 1024

    let descriptor: Int32

    /// Receives a piece of the bytes that have come.
    func receive() -> Receipt {
        var outcome = LIFECYCLE_IO_ENDED
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceLength) { piece, count in
            outcome = unsafe lifecycle_receive(descriptor, piece.baseAddress, piece.count, &count)
        }
        return switch outcome {
        case LIFECYCLE_IO_DONE: .bytes(bytes)
        case LIFECYCLE_IO_WOULD_BLOCK: .wouldBlock
        default: .ended
        }
    }

    func send(_ bytes: [UInt8]) -> Dispatch {
        var count = 0
        switch unsafe lifecycle_send(descriptor, bytes, bytes.count, &count) {
        case LIFECYCLE_IO_DONE: return .sent(count)
        case LIFECYCLE_IO_WOULD_BLOCK: return .wouldBlock
        default: return .ended
        }
    }

    /// Lets nothing more in: `receive()` gives what has arrived already, and then the end.
    func shutDown() {
        lifecycle_shut_down(descriptor)
    }
}

/// One descriptor that stands for several: an epoll instance.
struct Poller: ~Copyable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = lifecycle_poller_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    func watch(_ watched: Int32) throws(SystemError) {
        guard lifecycle_poller_add(descriptor, watched) == 0 else { throw .last }
    }

    func wantOutput(_ wanted: Bool, of watched: Int32) {
        // Fails only for a descriptor that is not watched.
        _ = lifecycle_poller_want_output(descriptor, watched, wanted)
    }

    func forget(_ watched: Int32) {
        lifecycle_poller_remove(descriptor, watched)
    }
}

/// Makes a poller readable from anywhere, from a signal handler too: an eventfd.
struct Waker: ~Copyable {
    let descriptor: Int32

    init() throws(SystemError) {
        descriptor = lifecycle_waker_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    func wake() {
        lifecycle_wake(descriptor)
    }

    func reset() {
        lifecycle_waker_reset(descriptor)
    }
}

/// The way back to a daemon that was started again: its socket, and when to try there next.
///
/// `descriptor` is readable when the next attempt is due.
final class Reconnection {
    private static let shortestDelay: Int64 = 100
    private static let longestDelay: Int64 = 4_000

    let descriptor: Int32
    private let path: String
    /// The delay in milliseconds: short for a daemon that is restarted, long for a daemon that stays away.
    private var delay = shortestDelay

    init(path: String) throws(SystemError) {
        self.path = path
        descriptor = lifecycle_timer_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    /// Has an attempt due after a time of more than 0.
    func schedule(inMilliseconds time: Int64) { lifecycle_timer_set(descriptor, time) }

    /// Has the next attempt due after a while, and every further one after twice as long.
    func schedule() {
        lifecycle_timer_set(descriptor, delay)
        delay = min(delay * 2, Self.longestDelay)
    }

    func cancel() { lifecycle_timer_set(descriptor, 0) }

    /// Resets the delay to the shortest, because the daemon is there.
    func reset() {
        delay = Self.shortestDelay
    }

    /// Returns whether an attempt is due, which is then the caller's.
    func consumeAttempt() -> Bool {
        lifecycle_timer_take(descriptor)
    }

    /// Returns a channel to the daemon at the path; nil if the daemon is absent or busy.
    func connect() -> Channel? {
        let socket = unsafe path.withCString { unsafe lifecycle_connect($0) }
        return socket >= 0 ? Channel(descriptor: socket) : nil
    }
}

/// A system call that failed.
public struct SystemError: Error, Equatable, Sendable {
    /// The errno of the call.
    public let code: Int32

    init(code: Int32) {
        self.code = code
    }

    /// The error of the last call.
    static var last: SystemError { SystemError(code: lifecycle_errno()) }
}
