import CSystemd
import Glibc

/// The readiness of a descriptor: the bits of epoll_ctl(2).
public struct IOEvents: OptionSet, Sendable {
    /// The bits as epoll knows them.
    public let rawValue: UInt32

    /// Makes a set from epoll's bits.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// There is something to read, a connection to accept, or the end of the stream.
    public static let readable = IOEvents(rawValue: EPOLLIN.rawValue)

    /// A write would not block.
    public static let writable = IOEvents(rawValue: EPOLLOUT.rawValue)

    /// Something exceptional to read, such as a change of a cgroup's event file.
    public static let exceptional = IOEvents(rawValue: EPOLLPRI.rawValue)

    /// The peer writes no more. Has to be asked for.
    public static let peerClosed = IOEvents(rawValue: EPOLLRDHUP.rawValue)

    /// Not a readiness but a mode: an event is reported again only if there is more of it, or after
    /// ``IOSource/retrigger()``.
    public static let edgeTriggered = IOEvents(rawValue: EPOLLET.rawValue)

    /// Both directions are closed. Reported without being asked for.
    public static let hangUp = IOEvents(rawValue: EPOLLHUP.rawValue)

    /// The descriptor is in error. Reported without being asked for.
    public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// Watches a descriptor, level-triggered: the handler is called again until what made it ready was dealt with.
///
/// The descriptor stays the caller's, and must be closed after the source was cancelled.
public final class IOSource: EventSource<IOEvents> {
    private var watched: IOEvents

    init(loop: EventLoop, descriptor: Int32, events: IOEvents, handler: @escaping Handler) throws(SystemdError) {
        self.watched = events
        super.init(handler: handler)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_io(
            loop.event,
            &source,
            descriptor,
            events.rawValue,
            { _, _, ready, userdata in unsafe IOSource.deliver(IOEvents(rawValue: ready), to: userdata) },
            userdata
        )
        try checked(result, "watch descriptor \(descriptor)")
        unsafe setSource(source)
    }

    /// The events that the descriptor is watched for. An empty set still reports errors and hang-ups.
    public var events: IOEvents {
        get { watched }
        set {
            guard newValue != watched else { return }
            watched = newValue
            // The kernel accepts any change of bits for a descriptor that it watches already.
            unsafe withSource { source in unsafe sd_event_source_set_io_events(source, newValue.rawValue) }
        }
    }

    /// Reports once more what there is, for a descriptor that is watched ``IOEvents/edgeTriggered``.
    public func retrigger() {
        unsafe withSource { source in unsafe sd_event_source_set_io_events(source, watched.rawValue) }
    }

    /// A Boolean value that indicates whether the descriptor is watched. Disabling keeps its input for later.
    public var isEnabled = true {
        didSet {
            guard isEnabled != oldValue else { return }
            setEnabled(isEnabled ? SD_EVENT_ON : SD_EVENT_OFF)
        }
    }
}

extension EventLoop {
    /// Watches a descriptor for `events` until the source that is returned is cancelled or dropped.
    ///
    /// - Parameters:
    ///   - descriptor: An open descriptor, which stays the caller's.
    ///   - events: The events that the handler is called for.
    ///   - handler: Called with the events that are there.
    /// - Returns: The source, which ends when it is dropped.
    /// - Throws: `SystemdError` with `EPERM` for a file that cannot be polled (a regular file), `EEXIST` for a
    ///   descriptor that is watched already, `EBADF` for a closed descriptor.
    public func watch(
        descriptor: Int32,
        events: IOEvents,
        handler: @escaping IOSource.Handler
    ) throws(SystemdError) -> IOSource {
        try IOSource(loop: self, descriptor: descriptor, events: events, handler: handler)
    }
}

/// A change of a directory, or of an entry in it: inotify(7).
public struct InotifyEvent: Sendable {
    /// The bits that were asked for, and those that come unasked: `IN_Q_OVERFLOW` when events were lost,
    /// `IN_IGNORED` when the directory is gone and nothing more will come.
    public let mask: UInt32

    /// The entry of the directory that it is about; nil for the directory itself.
    public let name: String?
}

/// Watches a directory or a file for as long as it is kept.
public final class InotifySource: EventSource<InotifyEvent> {
    init(loop: EventLoop, path: String, mask: UInt32, handler: @escaping Handler) throws(SystemdError) {
        super.init(handler: handler)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_inotify(
            loop.event,
            &source,
            path,
            mask,
            { _, event, userdata in unsafe InotifySource.deliver(InotifyEvent(event), to: userdata) },
            userdata
        )
        try checked(result, "watch \(path)")
        unsafe setSource(source)
    }
}

extension InotifyEvent {
    nonisolated init(_ event: UnsafePointer<inotify_event>?) {
        guard let event = unsafe event else {
            self.init(mask: 0, name: nil)
            return
        }
        // The name follows the structure, ended and padded by zeros.
        let start = unsafe UnsafeRawPointer(event + 1).assumingMemoryBound(to: CChar.self)
        let name = unsafe event.pointee.len > 0 ? unsafe String(cString: start) : nil
        unsafe self.init(mask: event.pointee.mask, name: name)
    }
}

extension EventLoop {
    /// Watches a path for changes.
    ///
    /// - Parameters:
    ///   - path: The path of a file or a directory.
    ///   - mask: The changes: the `IN_` bits of inotify(7).
    ///   - handler: Called with each change.
    /// - Returns: The source, which ends when it is dropped.
    /// - Throws: `SystemdError` with `ENOENT` or `EACCES` for a path that cannot be watched, `ENOSPC` when the user has
    ///   too many watches.
    public func watch(
        path: String, mask: UInt32, handler: @escaping InotifySource.Handler
    ) throws(SystemdError) -> InotifySource {
        try InotifySource(loop: self, path: path, mask: mask, handler: handler)
    }
}

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
