import CSystemd
import Glibc

/// Watches many descriptors for the same events, through one source of the loop: an epoll(7) instance of its own.
///
/// A descriptor has a number, which the handler is called with, and takes no memory of this process: a source of libsystemd takes
/// some 500 bytes, with its closure.
@MainActor
@safe public final class WatchSet {
    /// Called for each descriptor that is ready, with its number. It may add and remove descriptors.
    public typealias Handler = (UInt64) -> Void

    private let descriptor: Int32
    private let events: IOEvents
    private let handler: Handler
    private var source: IOSource?

    /// The number of descriptors that are handled before other sources of the loop have their turn.
    private static let batchSize = 8

    fileprivate init(loop: EventLoop, events: IOEvents, handler: @escaping Handler) throws(SystemdError) {
        let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        try checked(descriptor < 0 ? -errno : 0, "watch descriptors together")
        self.descriptor = descriptor
        self.events = events
        self.handler = handler
        source = try loop.watch(descriptor: descriptor, events: .readable) { [weak self] _ in self?.handleReady() }
    }

    isolated deinit {
        source?.cancel()
        close(descriptor)
    }

    /// Watches a descriptor until it is removed. The descriptor stays the caller's.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor, which must be removed before it is closed.
    ///   - number: The number that the handler is called with. A handler may be called once more with the number of a descriptor
    ///     that was removed while others were handled.
    /// - Throws: `SystemdError` with `EEXIST` for a descriptor that is watched already, `ENOSPC` when the user watches too many.
    public func add(_ descriptor: Int32, number: UInt64) throws(SystemdError) {
        var event = unsafe epoll_event(events: events.rawValue, data: epoll_data_t(u64: number))
        let result = unsafe epoll_ctl(self.descriptor, EPOLL_CTL_ADD, descriptor, &event)
        try checked(result < 0 ? -errno : 0, "watch descriptor \(descriptor)")
    }

    /// Ends the watch of a descriptor. A call for an unwatched descriptor changes nothing.
    public func remove(_ descriptor: Int32) {
        _ = epoll_ctl(self.descriptor, EPOLL_CTL_DEL, descriptor, nil)
    }

    private func handleReady() {
        var ready = unsafe [epoll_event](repeating: epoll_event(), count: Self.batchSize)
        let count = unsafe epoll_wait(descriptor, &ready, Int32(Self.batchSize), 0)
        guard count > 0 else { return }
        for position in 0..<Int(count) { unsafe handler(ready[position].data.u64) }
    }
}

extension EventLoop {
    /// Returns a set that watches descriptors for the same events, and none at first.
    ///
    /// - Parameters:
    ///   - events: The events that the handler is called for, best ``IOEvents/edgeTriggered``.
    ///   - handler: Called with the number of each descriptor that is ready.
    /// - Returns: The set, whose watches end when it is dropped.
    /// - Throws: `SystemdError` when the kernel has no descriptors or memory left.
    public func watchSet(events: IOEvents, handler: @escaping WatchSet.Handler) throws(SystemdError) -> WatchSet {
        try WatchSet(loop: self, events: events, handler: handler)
    }
}
