internal import CLifecycle

/// The way back to a daemon that was started again: its socket, and when to try there next.
///
/// Nobody waits for it: `descriptor` is readable when the next attempt is due.
final class Reconnection {
    private static let shortestDelay: Int64 = 100
    private static let longestDelay: Int64 = 4_000

    let descriptor: Int32
    private let path: String
    /// In milliseconds. A daemon that is restarted is back soon, one that is not should cost an app as good as nothing.
    private var delay = shortestDelay

    init(path: String) throws(SystemError) {
        self.path = path
        descriptor = lifecycle_timer_create()
        guard descriptor >= 0 else { throw .last }
    }

    deinit {
        lifecycle_close_descriptor(descriptor)
    }

    /// Has the next attempt due after a while, and every further one after twice as long.
    func schedule() {
        lifecycle_timer_set(descriptor, delay)
        delay = min(delay * 2, Self.longestDelay)
    }

    /// The daemon is there: the next time that it goes begins with short delays again.
    func reset() {
        delay = Self.shortestDelay
    }

    /// Whether an attempt is due. It is the caller's then.
    func takeTurn() -> Bool {
        lifecycle_timer_take(descriptor)
    }

    /// A channel to whoever listens at the path, or nil when that is nobody or they are busy.
    func connect() -> Channel? {
        let socket = unsafe path.withCString { unsafe lifecycle_connect($0) }
        return socket >= 0 ? Channel(descriptor: socket) : nil
    }
}
