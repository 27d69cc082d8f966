import CSystemd
import Glibc

/// A change of a directory, or of what is in it: inotify(7).
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
        unsafe adopt(source)
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
    /// Watches a path for the changes in `mask`, the `IN_` bits of inotify(7).
    ///
    /// - Throws: `SystemdError` with `ENOENT` or `EACCES` for a path that cannot be watched, `ENOSPC` when the user has
    ///   too many watches.
    public func watch(
        path: String, mask: UInt32, handler: @escaping InotifySource.Handler
    ) throws(SystemdError) -> InotifySource {
        try InotifySource(loop: self, path: path, mask: mask, handler: handler)
    }
}
