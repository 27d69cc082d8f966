import Dispatch
import Glibc
import Lifecycle

/// Apps that each do one thing with the library, for its tests. The first argument says which.
@main
struct LifecycleFixture {
    private static let mainThread = pthread_self()

    static func main() {
        _ = mainThread
        switch CommandLine.arguments.dropFirst().first {
        case "main-thread": Application.shared.run(delegate: Teller(whenActive: tick))
        case "tasks-only": runInTask(termination: .exits)
        case "own-shutdown": runInTask(termination: .leftToTheApp)
        case "cancelled": runUntilCancelled()
        case "stopped": runUntilStopped()
        case "stopped-main-thread": Application.shared.run(delegate: Teller(whenActive: stop))
        case "helper": Application.shared.run(delegate: Teller(whenActive: runHelper))
        case "state": keepState()
        default: exit(EXIT_FAILURE)
        }
    }

    /// Work of the main actor between callbacks, which goes on only if whoever has the main thread lets it.
    private static func tick() {
        Task {
            for number in 1...3 {
                await Task.yield()
                let isMain = pthread_equal(pthread_self(), mainThread) != 0
                say("tick \(number) \(isMain ? "main" : "other") thread")
            }
        }
        DispatchQueue.main.async { say("main queue") }
    }

    /// The main actor's work is done by Dispatch, as under an `async` main.
    private static func runInTask(termination: Application.Termination) -> Never {
        if termination == .leftToTheApp { signal(SIGTERM) { _ in _exit(7) } }
        Task {
            try await Application.shared.run(delegate: Teller(), termination: termination)
        }
        dispatchMain()
    }

    private static func runUntilCancelled() -> Never {
        let life = Task { try await Application.shared.run(delegate: Teller()) }
        Task {
            for await event in Application.shared.events where event == .didBecomeActive { life.cancel() }
        }
        Task {
            try await life.value
            say("cancelled")
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }

    private static func runUntilStopped() -> Never {
        Task {
            try await Application.shared.run(delegate: Teller { Application.shared.stop() })
            say("stopped")
            // The life cycle is to be had again, and this process has no channel any more.
            try await Application.shared.run(delegate: Teller { Application.shared.stop() }, termination: .leftToTheApp)
            say("stopped again")
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }

    /// Gives the life cycle up, and has work that is done after that.
    private static func stop() {
        Application.shared.stop()
        DispatchQueue.main.async { say("main queue") }
    }

    private static func keepState() -> Never {
        let application = Application.shared
        func tell(_ action: () throws(RestorationError) -> Void) {
            do throws(RestorationError) { try action() } catch { say(error.description) }
        }
        tell { () throws(RestorationError) in say("\(try application.restorationState())") }
        for state in [[1, 2, 3], [], Array(repeating: 7, count: Application.restorationStateLimit + 1)] as [[UInt8]] {
            tell { () throws(RestorationError) in try application.saveRestorationState(state) }
            tell { () throws(RestorationError) in say("\(try application.restorationState())") }
        }
        exit(EXIT_SUCCESS)
    }

    /// What a program that the app starts has of the app's.
    private static func runHelper() {
        let script =
            "echo fd ${LIFECYCLE_FD-none} socket ${LIFECYCLE_SOCKET-none}; test -e /proc/self/fd/3; echo $?; kill -TERM $$; echo survived"
        var pid: pid_t = 0
        let command = ["sh", "-c", script]
        let arguments = unsafe command.map { unsafe strdup($0) } + [nil]
        unsafe posix_spawnp(&pid, "sh", nil, nil, arguments, environ)
        var status: Int32 = 0
        unsafe waitpid(pid, &status, 0)
        say("helper ended by \(status & 0x7F)")
    }
}

/// Prints what it is told.
final class Teller: ApplicationDelegate {
    private let whenActive: @MainActor () -> Void

    init(whenActive: @escaping @MainActor () -> Void = {}) {
        self.whenActive = whenActive
    }

    func applicationDidBecomeActive(_ application: Application) {
        say("did-become-active")
        whenActive()
    }

    func applicationDidEnterBackground(_ application: Application) {
        say("did-enter-background")
    }

    func applicationWillTerminate(_ application: Application) {
        say("will-terminate")
    }
}

func say(_ text: String) {
    print(text)
    fflush(nil)
}
