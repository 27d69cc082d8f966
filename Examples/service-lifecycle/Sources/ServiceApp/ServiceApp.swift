import Lifecycle
import Logging
import ServiceLifecycle

/// An app made of services: SIGTERM ends them in order, as their group sees fit, and the app's life cycle is one of them.
@main
struct ServiceApp {
    static func main() async throws {
        // Asked for before the life cycle begins, so that none is missed.
        let worker = Worker(events: await Application.shared.events)
        let group = ServiceGroup(
            services: [LifecycleService(), worker], gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "org.example.ServiceApp"))
        try await group.run()
    }
}
