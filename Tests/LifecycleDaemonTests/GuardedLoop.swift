import Systemd
import Testing

@testable import LifecycleDaemon

extension EventLoop {
    /// Runs the loop until its handlers, or the function that follows each event, end it, and returns their code. A guard ends it too, so that a test fails, and
    /// does not hang, if a handler is never called. The length of the guard decides nothing else.
    func runGuarded(
        sourceLocation: SourceLocation = #_sourceLocation, afterEach: () -> Void = {}
    ) throws -> Int32 {
        var isInTime = true
        let limit = try timer { [weak self] in
            isInTime = false
            self?.exit(code: 1)
        }
        limit.setPriority(EventPriority(rawValue: EventPriority.important.rawValue - 1))
        limit.arm(atMicroseconds: freshNow + 60_000_000)
        let code = try run(afterEach: afterEach)
        #expect(isInTime, "the loop was still waiting after 60 s", sourceLocation: sourceLocation)
        return code
    }
}

extension Events {
    /// Runs the loop as ``EventLoop/runGuarded(sourceLocation:afterEach:)`` does, and handles the events.
    func runGuarded(
        sourceLocation: SourceLocation = #_sourceLocation, handler: (DaemonEvent) -> Void
    ) throws -> Int32 {
        try loop.runGuarded(sourceLocation: sourceLocation) { handle(by: handler) }
    }
}
