// Prints what the daemon's sources of events tell, one line each, for the tests in the container:
//
//   MachineFixture session seat|user    a line on standard input lets the machine sleep
//   MachineFixture clock
//   MachineFixture midnight SECOND      prints the next local midnight after a second of the epoch, and ends
//   MachineFixture memory [FILE]
#if DEBUG
    import Glibc
    @testable import LifecycleDaemon
    import Systemd

    @main struct MachineFixture {
        static func main() throws {
            let events = try Events()
            let loop = events.loop
            var handle: (DaemonEvent) -> Void = { _ in }
            let arguments = Array(CommandLine.arguments.dropFirst())
            let kept: [Any]
            switch arguments.first {
            case "session": kept = try followSession(loop, isUser: arguments.last == "user")
            case "clock":
                let clock = try ClockWatch(events: events, smallestStep: .zero)
                handle = { event in
                    switch event {
                    case .clockTimer: if let change = clock.timerEnded() { say("\(change)") }
                    case .timeZoneDirectory(let change):
                        for change in clock.zoneChanges(in: change) { say("\(change)") }
                    default: break
                    }
                }
                kept = [try readLines(loop) {}]
            case "memory":
                let thresholds = MemoryThresholds(
                    warning: .init(kind: .some, stall: .milliseconds(20), interval: .seconds(2)),
                    critical: .init(kind: .full, stall: .milliseconds(20), interval: .seconds(2)), minimumAvailable: 0)
                let file = arguments.count > 1 ? arguments[1] : MemoryPressureSource.machine
                let source = try MemoryPressureSource(events: events, thresholds: thresholds, file: file)
                handle = { event in
                    guard case .memoryPressure(let level, let ready) = event else { return }
                    switch source.event(level, ready) {
                    case nil: break
                    case .pressure(let pressure): say("\(pressure.level): \(pressure.shortage.words)")
                    case .ended(let reason): say("end: \(reason)")
                    }
                }
                kept = [try readLines(loop) {}]
            case "midnight":
                say("\(WallClock.nextMidnight(after: arguments.last.flatMap { Int64($0) } ?? 0))")
                exit(EXIT_SUCCESS)
            default: exit(EX_USAGE)
            }
            say("started")
            exit(try withExtendedLifetime(kept) { try loop.run { events.handle(by: handle) } })
        }

        /// Standard input ends with the parent.
        static func readLines(_ loop: EventLoop, handler: @escaping () -> Void) throws -> IOSource {
            try loop.watch(descriptor: STDIN_FILENO, events: .readable) { _ in
                guard readLine() != nil else { return loop.exit(code: 0) }
                handler()
            }
        }

        static func followSession(_ loop: EventLoop, isUser: Bool) throws -> [Any] {
            var delay: SleepDelay?
            let bus = try Bus(loop: loop) { say("problem: \($0)") }
            let identifier = unsafe getenv("XDG_SESSION_ID").map { unsafe String(cString: $0) }
            let environment = identifier.map { ["XDG_SESSION_ID": $0] } ?? [:]
            let choice = LoginSessionChoice.ofProcess(isUser: isUser, environment: environment)
            let session = LoginSession(bus: bus, choice: choice) { event in
                switch event {
                case .willSleep(let sleep):
                    delay = sleep
                    say("willSleep held=\(sleep.isHeld) longest=\(sleep.longest.map { "\($0)" } ?? "?")")
                case .followed(let identifier): say("session \(identifier)")
                case .changed: break
                case .locked, .unlocked, .didWake, .switchedAway, .switchedBack: say("\(event)")
                }
            }
            let input = try readLines(loop) {
                delay?.release()
                say("released")
            }
            return [bus, session, input]
        }
    }

    /// Standard output through a pipe would keep what is printed.
    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe write(STDOUT_FILENO, bytes, bytes.count)
    }
#else
    @main struct MachineFixture {
        static func main() { fatalError("build this for debugging: it looks into the daemon") }
    }
#endif
