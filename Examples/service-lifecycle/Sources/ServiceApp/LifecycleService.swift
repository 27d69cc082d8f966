import Lifecycle
import ServiceLifecycle

/// Keeps the app's life cycle going until the group shuts down. The group has SIGTERM, so the library leaves it alone.
struct LifecycleService: Service {
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await Application.shared.run(termination: .leftToTheApp)
        }
    }
}
