import CSystemd

/// Work for later: runs in the next iteration of the loop, after the handler that asked for it has returned.
public final class DeferredSource: EventSource<Void> {
    private let loop: EventLoop

    init(loop: EventLoop, handler: @escaping Handler) throws(SystemdError) {
        self.loop = loop
        super.init(handler: handler)
        unsafe adopt(try makeSource())
        setEnabled(SD_EVENT_OFF)
    }

    /// Makes the handler run once. Called from the handler itself, it makes it run once more, when what has become ready
    /// in the meantime has had its turn.
    public func schedule() {
        joinTheQueue()
        setEnabled(SD_EVENT_ONESHOT)
    }

    /// To libsystemd a deferred source is ready from when it is made until its end, and who has been ready longest comes
    /// first: one that goes on and on would keep everybody else waiting. A new one in its place does not.
    private func joinTheQueue() {
        unsafe withSource { old in
            guard unsafe sd_event_source_get_enabled(old, nil) == SD_EVENT_OFF, let new = unsafe try? makeSource()
            else {
                return 0
            }
            var priority: Int64 = 0
            unsafe sd_event_source_get_priority(old, &priority)
            unsafe sd_event_source_set_priority(new, priority)
            unsafe adopt(new)
            unsafe sd_event_source_disable_unref(old)
            return 0
        }
    }

    private func makeSource() throws(SystemdError) -> OpaquePointer? {
        var source: OpaquePointer?
        let result = unsafe sd_event_add_defer(
            loop.event,
            &source,
            { _, userdata in unsafe DeferredSource.deliver((), to: userdata) },
            userdata
        )
        try checked(result, "create a deferred source")
        return unsafe source
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
