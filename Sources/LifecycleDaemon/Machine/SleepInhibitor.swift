import Systemd

/// The machine's sleep, put off until the apps are ready: a delay lock of logind's.
///
/// The machine sleeps when every lock has been given back, and at the latest after `longest`. Dropping the object
/// gives it back too.
final class SleepDelay {
    /// How long the machine waits for this lock at most (`InhibitDelayMaxSec=` of logind.conf(5)); nil when logind has
    /// not said, or when the lock could not be had and the machine does not wait at all.
    let longest: Duration?

    private var lock: BusDescriptor?

    /// Whether the machine still waits.
    var isHeld: Bool { lock != nil }

    init(lock: BusDescriptor?, longest: Duration?) {
        self.lock = lock
        self.longest = lock == nil ? nil : longest
    }

    /// Lets the machine sleep. Harmless when repeated.
    func release() {
        lock = nil
    }
}

/// Keeps a delay lock ready for the next sleep, so that there is no race between being told of it and asking for time.
final class SleepInhibitor {
    private let bus: Bus
    private var owner: String?
    private var lock: BusDescriptor?
    /// What logind says of how long it waits.
    var longest: Duration?

    init(bus: Bus) {
        self.bus = bus
    }

    /// Asks logind for a lock. One that is held already is given back when the new one is there.
    func take(from owner: String) {
        self.owner = owner
        let call = BusCall(
            owner, path: Logind.path, interface: Logind.manager, member: "Inhibit",
            arguments: [.text("sleep"), .text("lifed"), .text("Apps are put to sleep"), .text("delay")])
        bus.call(call) { [weak self] reply in
            // Refused, or answered by a logind that has gone: the machine sleeps without waiting.
            guard let self, self.owner == owner, let lock = try? reply.get().first?.descriptor else { return }
            self.lock = lock
        }
    }

    /// Hands the lock over to the sleep that begins.
    func handOver() -> SleepDelay {
        defer { lock = nil }
        return SleepDelay(lock: lock, longest: longest)
    }
}

/// Names of logind's on the bus: org.freedesktop.login1(5).
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let seat = "org.freedesktop.login1.Seat"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
}
