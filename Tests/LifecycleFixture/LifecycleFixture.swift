import Dispatch
import Glibc
import Lifecycle

/// Apps that each do one thing with the library, for its tests. The first argument says which.
@main
struct LifecycleFixture {
    private static let mainThread = pthread_self()

    static func main() throws {
        _ = mainThread
        switch CommandLine.arguments.dropFirst().first {
        case "main-thread": try runOnMainThread(Teller(whenActive: tick))
        case "tasks-only": runInTask(options: .handlesSIGTERM)
        case "own-shutdown": runInTask(options: [])
        case "own-loop": try runOwnLoop()
        case "cancelled": runUntilCancelled()
        case "stopped": runUntilStopped()
        case "stopped-main-thread": try runOnMainThread(Teller { LifecycleApplication.shared.stop() })
        case "helper": try runOnMainThread(Teller(whenActive: runHelper))
        case "helper-without-variables":
            try runOnMainThread(
                Teller(whenActive: runHelper), options: [.handlesSIGTERM, .removesEnvironmentVariables])
        case "state": keepState()
        default: exit(EXIT_FAILURE)
        }
    }

    /// Work of the main actor between callbacks, which goes on only if the owner of the main thread lets it.
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

    private static func runOnMainThread(
        _ delegate: Teller, options: LifecycleApplication.Options = .handlesSIGTERM
    ) throws {
        try LifecycleApplication.shared.run(delegate: delegate, options: options)
        say("returned")
    }

    /// The main actor's work is done by Dispatch, as under an `async` main.
    private static func runInTask(options: LifecycleApplication.Options) -> Never {
        if !options.contains(.handlesSIGTERM) { signal(SIGTERM) { _ in _exit(7) } }
        Task {
            try await LifecycleApplication.shared.run(delegate: Teller(), options: options)
            say("returned")
            exit(3)
        }
        dispatchMain()
    }

    /// Goes on after SIGTERM: the second one finds its former handling.
    private static func runOwnLoop() throws {
        let application = LifecycleApplication.shared
        try application.start(delegate: Teller(), options: .handlesSIGTERM)
        var item = pollfd(fd: application.fileDescriptor, events: Int16(POLLIN), revents: 0)
        while true {
            if unsafe poll(&item, 1, -1) > 0 { application.dispatch() }
        }
    }

    private static func runUntilCancelled() -> Never {
        let life = Task { try await LifecycleApplication.shared.run(delegate: Teller()) }
        Task {
            for await event in LifecycleApplication.shared.events where event == .didBecomeActive { life.cancel() }
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
            try await LifecycleApplication.shared.run(delegate: Teller { LifecycleApplication.shared.stop() })
            say("stopped")
            // The variable still names the channel, which is gone.
            try await LifecycleApplication.shared.run(
                delegate: Teller { LifecycleApplication.shared.stop() }, options: [])
            say("stopped again")
            exit(EXIT_SUCCESS)
        }
        dispatchMain()
    }

    private static func keepState() -> Never {
        let application = LifecycleApplication.shared
        func tell(_ action: () throws(RestorationError) -> Void) {
            do throws(RestorationError) { try action() } catch { say(error.description) }
        }
        tell { () throws(RestorationError) in say("\(try application.restorationState())") }
        for state in [[1, 2, 3], [], Array(repeating: 7, count: LifecycleApplication.restorationStateLimit + 1)]
            as [[UInt8]]
        {
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
final class Teller: LifecycleDelegate {
    private let whenActive: @MainActor () -> Void

    init(whenActive: @escaping @MainActor () -> Void = {}) {
        self.whenActive = whenActive
    }

    func applicationDidBecomeActive(_ application: LifecycleApplication) {
        say("did-become-active")
        whenActive()
    }

    func applicationDidEnterBackground(_ application: LifecycleApplication) {
        say("did-enter-background")
    }

    func applicationWillTerminate(_ application: LifecycleApplication) {
        say("will-terminate")
    }
}

func say(_ text: String) {
    print(text)
    fflush(nil)
}
