import Lifecycle
import ServiceLifecycle

/// Runs the life cycle of the app in a `ServiceGroup` until the group shuts down.
///
/// The group handles SIGTERM, so the library must not: leave `handlesSIGTERM` out of the options. The end of the app is the end
/// of the group, and the delegate's `applicationWillTerminate(_:)` isn't called.
struct LifecycleService: Service {
    /// The other services can follow `LifecycleApplication.shared.events` instead.
    var delegate: (any LifecycleDelegate & Sendable)?
    var options: LifecycleApplication.Options = []

    func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            try await LifecycleApplication.shared.run(delegate: delegate, options: options)
        }
    }
}
