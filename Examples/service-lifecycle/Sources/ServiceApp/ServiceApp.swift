import Lifecycle
import Logging
import ServiceLifecycle

/// An app made of services. Its life cycle is one of them; on SIGTERM the group ends the services in order.
@main
struct ServiceApp {
    static func main() async throws {
        // Before the life cycle starts, so that no event is missed.
        let worker = Worker(events: LifecycleApplication.shared.events)
        let group = ServiceGroup(
            services: [LifecycleService(), worker], gracefulShutdownSignals: [.sigterm],
            logger: Logger(label: "org.example.ServiceApp"))
        try await group.run()
    }
}
