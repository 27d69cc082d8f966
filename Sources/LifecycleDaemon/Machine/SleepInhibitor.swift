import Systemd

/// A delay lock of logind, held until the apps are suspended.
///
/// The machine sleeps when every lock is released, at the latest after ``longest``. The end of the object releases it too.
final class SleepDelay {
    /// The longest delay (`InhibitDelayMaxSec=` of logind.conf(5)); nil if logind has not reported it, or has given no lock.
    let longest: Duration?

    private var lock: BusDescriptor?

    var isHeld: Bool { lock != nil }

    init(lock: BusDescriptor?, longest: Duration?) {
        self.lock = lock
        self.longest = lock == nil ? nil : longest
    }

    func release() { lock = nil }
}

/// Holds a delay lock before each sleep: one that is acquired when the sleep is announced may come too late.
final class SleepInhibitor {
    private let bus: Bus
    private var owner: String?
    private var lock: BusDescriptor?
    /// The longest delay that logind has reported.
    var longest: Duration?

    init(bus: Bus) {
        self.bus = bus
    }

    /// Acquires a lock. A lock that is held is released when the new one is there.
    func acquire(from owner: String) {
        self.owner = owner
        let call = BusCall(
            owner, path: Logind.path, interface: Logind.manager, member: "Inhibit",
            arguments: [.text("sleep"), .text("lifed"), .text("Apps are being suspended"), .text("delay")])
        bus.call(call) { [weak self] reply in
            // Without a lock the machine sleeps without a delay.
            guard let self, self.owner == owner, let lock = try? reply.get().first?.descriptor else { return }
            self.lock = lock
        }
    }

    func handOver() -> SleepDelay {
        defer { lock = nil }
        return SleepDelay(lock: lock, longest: longest)
    }
}

/// The names of logind on the bus: org.freedesktop.login1(5).
enum Logind {
    static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let seat = "org.freedesktop.login1.Seat"
    static let session = "org.freedesktop.login1.Session"
    static let user = "org.freedesktop.login1.User"
}
