import Lifecycle
import ServiceLifecycle

/// Works while the app is in use, and has something to finish when the group shuts down.
struct Worker: Service {
    let events: ApplicationEvents

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
