import CSystemd

/// Work for later: runs in the next iteration of the loop, after the handler that asked for it has returned.
public final class DeferredSource: EventSource<Void> {
    init(loop: EventLoop, handler: @escaping Handler) throws(SystemdError) {
        super.init(handler: handler)
        var source: OpaquePointer?
        let result = unsafe sd_event_add_defer(
            loop.event,
            &source,
            { _, userdata in unsafe DeferredSource.deliver((), to: userdata) },
            userdata
        )
        try checked(result, "create a deferred source")
        unsafe adopt(source)
        setEnabled(SD_EVENT_OFF)
    }

    /// Makes the handler run once. Called from the handler itself, it makes it run once more.
    public func schedule() {
        setEnabled(SD_EVENT_ONESHOT)
    }
}

extension EventLoop {
    /// Makes a deferred source that is not scheduled.
    ///
    /// - Throws: `SystemdError` when there is no memory left.
    public func deferred(handler: @escaping DeferredSource.Handler) throws(SystemdError) -> DeferredSource {
        try DeferredSource(loop: self, handler: handler)
    }
}
