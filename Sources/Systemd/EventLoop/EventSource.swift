import CSystemd
import Glibc

/// The order in which sources that became ready together are dispatched; lower values come first.
public struct EventPriority: RawRepresentable, Sendable {
    /// The value that sd_event_source_set_priority(3) takes.
    public let rawValue: Int64

    /// Makes a priority; everything in between and outside the named ones is allowed.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// For what must not wait behind a flood of other events.
    public static let important = EventPriority(rawValue: Int64(SD_EVENT_PRIORITY_IMPORTANT))

    /// The default.
    public static let normal = EventPriority(rawValue: Int64(SD_EVENT_PRIORITY_NORMAL))

    /// For what may wait until nothing else is left to do.
    public static let idle = EventPriority(rawValue: Int64(SD_EVENT_PRIORITY_IDLE))
}

/// The base of all sources: a reference to libsystemd's source, a handler, and their end.
///
/// libsystemd holds the object's address without a reference of its own: the source is disabled before the object goes away, and
/// libsystemd keeps a source that is being dispatched until its callback has returned.
@MainActor
@safe public class EventSource<Event: Sendable> {
    /// Called on the main actor for each event. It may cancel or drop the source that it belongs to.
    public typealias Handler = (Event) -> Void

    private var source: OpaquePointer?
    private var handler: Handler?

    init(handler: @escaping Handler) {
        self.handler = handler
    }

    isolated deinit {
        cancel()
    }

    /// Ends the source: its handler is never called again, and is released. Harmless when repeated.
    public final func cancel() {
        handler = nil
        guard let source = unsafe source else { return }
        unsafe self.source = nil
        unsafe sd_event_source_disable_unref(source)
    }

    /// Sets where the source stands among those that become ready together.
    public final func setPriority(_ priority: EventPriority) {
        // Fails only for a loop that is finished, where the order no longer matters.
        unsafe withSource { source in unsafe sd_event_source_set_priority(source, priority.rawValue) }
    }
}

extension EventSource {
    /// The address that libsystemd hands back to `deliver`.
    var userdata: UnsafeMutableRawPointer {
        unsafe Unmanaged.passUnretained(self).toOpaque()
    }

    /// Keeps the reference that one of the sd_event_add functions made.
    func setSource(_ source: OpaquePointer?) {
        unsafe self.source = source
    }

    /// Sets one of libsystemd's enabled states; a source that was cancelled stays so.
    func setEnabled(_ state: Int) {
        // Fails only for a loop that is finished, where no source is dispatched any more.
        unsafe withSource { source in unsafe sd_event_source_set_enabled(source, Int32(state)) }
    }

    /// Calls libsystemd with the source, unless it was cancelled.
    func withSource(_ body: (OpaquePointer) -> Int32) {
        guard let source = unsafe source else { return }
        _ = unsafe body(source)
    }

    /// Delivers an event to the handler of its source. The result keeps the source enabled.
    nonisolated static func deliver(_ event: Event, to userdata: UnsafeMutableRawPointer?) -> Int32 {
        guard let userdata = unsafe userdata else { return 0 }
        let source = unsafe Unmanaged<EventSource<Event>>.fromOpaque(userdata)
        MainActor.assumeIsolated {
            guard let handler = unsafe handler(of: source) else { return }
            handler(event)
        }
        return 0
    }

    /// Returns the handler. No reference to the source is held while it runs: otherwise a source that is dropped there
    /// would be watched until the handler has returned, and its descriptor may be closed by then. If a child has a copy
    /// of that descriptor, the kernel goes on reporting it.
    private static func handler(of source: Unmanaged<EventSource<Event>>) -> Handler? {
        unsafe source.takeUnretainedValue().handler
    }
}

/// The object that has event sources, which their handlers reach once it has set itself.
///
/// A handler cannot capture an object that is being initialized. With its owner, the sources of an object are constants.
@MainActor
public final class Owner<Object: AnyObject> {
    /// The object; nil while it is being initialized, and when it is gone.
    public weak var object: Object?

    /// Creates the owner of sources before the object is initialized.
    public init() {}
}
