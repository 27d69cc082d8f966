import Glibc
import Systemd

/// Tells when the machine's time zone changes: when `/etc/localtime` becomes another link or file.
///
/// The directory is what is watched, because the link is replaced by renaming. A process with `TZ` in its environment
/// has that zone and no other, so for it nothing is watched. New rules for the same zone are not noticed.
final class TimeZoneWatch {
    private let path: String
    private let handler: () -> Void
    private var known: Identity
    private var source: InotifySource?

    /// - Parameter handler: Called after the C library has read the new zone.
    /// - Throws: `SystemdError` when the directory cannot be watched.
    init(loop: EventLoop, path: String = "/etc/localtime", handler: @escaping () -> Void) throws(SystemdError) {
        self.path = path
        self.handler = handler
        known = Identity(of: path)
        guard unsafe getenv("TZ") == nil else { return }
        let parts = path.split(separator: "/")
        let directory = "/" + parts.dropLast().joined(separator: "/")
        let name = parts.last.map(String.init)
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
        source = try loop.watch(path: directory, mask: mask) { [weak self] event in
            if event.name == name || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { self?.look() }
        }
    }

    private func look() {
        let found = Identity(of: path)
        guard found != known else { return }
        known = found
        tzset()
        handler()
    }
}

/// What tells one zone from another: where the link points, or which file it is.
private struct Identity: Equatable {
    var target: String?
    var device: dev_t = 0
    var inode: ino_t = 0
    var modified: Int = 0

    init(of path: String) {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe readlink(path, &bytes, bytes.count)
        if length >= 0 {
            target = String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return }
        (device, inode, modified) = (status.st_dev, status.st_ino, status.st_mtim.tv_sec)
    }
}
