import Lifecycle
import ServiceLifecycle

/// Works while the app is active, and finishes when the group shuts down.
struct Worker: Service {
    let events: LifecycleEvents

    func run() async throws {
        for await event in events.cancelOnGracefulShutdown() {
            switch event {
            case .didBecomeActive: print("working")
            case .willResignActive: print("paused")
            default: break
            }
        }
        print("finished")
    }
}
