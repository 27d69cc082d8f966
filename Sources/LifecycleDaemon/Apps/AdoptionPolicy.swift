import ControlAPI
import Glibc
import LifecycleCore
import Processes

/// Decides whether a client may adopt a process.
///
/// Refuses processes that the session, the daemon or the client depends on.
struct AdoptionPolicy {
    let process: RunningProcess
    let peer: PeerCredentials
    let processes: AppProcesses

    private var pid: ProcessID { process.identity.pid }

    static func isDaemon(_ pid: ProcessID) -> Bool { pid == getpid() }

    /// The first reason to refuse; nil if the client may adopt the process.
    var objection: ControlError? { ownerObjection ?? kindObjection ?? relationObjection }

    private func refuse(_ cause: String, _ remedy: String) -> ControlError {
        let user = process.users.first.map(UserAccount.name) ?? "unknown"
        // /proc may hide the names of other users' processes.
        let name = isPeers ? " (\(process.name))" : ""
        let reason = "cannot adopt process \(pid)\(name) of user \(user): \(cause)"
        return ControlError(.refused, id: nil, reason: reason, remedy: remedy)
    }

    private var isPeers: Bool { peer.user == 0 || process.users.allSatisfy { $0 == peer.user } }

    /// Root may adopt any process. Any other user must own all user ids of the process, the saved one included.
    private var ownerObjection: ControlError? {
        let user = geteuid()
        if !isPeers { return refuse("it is not yours", "adopt it as root") }
        if user != 0, process.users.contains(where: { $0 != user }) {
            return refuse("this daemon may not stop it", "adopt it with the system's daemon (lifectl --system)")
        }
        return nil
    }

    private var kindObjection: ControlError? {
        let other = "adopt the process of a program with a window"
        if pid == 1 { return refuse("every other process descends from it", other) }
        if process.isKernels { return refuse("it is a thread of the kernel", other) }
        if Self.isDaemon(pid) { return refuse("it is this lifed", other) }
        if process.name == (try? ProcessStatus(of: getpid()))?.name { return refuse("it is another lifed", other) }
        if process.isServiceManager {
            return refuse("it is a service manager, whose services would be suspended with it", other)
        }
        if process.isInGroupOfApp { return refuseAppOfOther() }
        if let session = process.ledLoginSession {
            return refuse("it leads the login session \(session), which would be suspended with it", other)
        }
        return nil
    }

    private func refuseAppOfOther() -> ControlError {
        refuse("it belongs to an app of another lifed", "ask that daemon, with lifectl --socket or --system")
    }

    /// Refuses ancestors of the daemon and of the client, and processes related to other apps.
    private var relationObjection: ControlError? {
        guard let ancestors = RunningProcess.ancestors(of: pid), let own = RunningProcess.ancestors(of: getpid()) else {
            return refuse("its ancestors cannot be read", "try again")
        }
        if own.contains(pid) {
            return refuse(
                "it has started lifed, which would stop itself", "start lifed from elsewhere, as systemd does")
        }
        if pid == peer.process || RunningProcess.ancestors(of: peer.process)?.contains(pid) ?? true {
            return refuse(
                "it has started your client, which would be stopped with it",
                "adopt it from another terminal, or start its program with 'lifectl run'")
        }
        let ownName = (try? ProcessStatus(of: getpid()))?.name
        if ancestors.contains(where: { (try? ProcessStatus(of: $0))?.name == ownName }) { return refuseAppOfOther() }
        return processes.app(below: pid).map { id in
            refuse("the app \(id) descends from it", "adopt another descendant, or wait until \(id) has ended")
        }
    }
}

/// Programs that are never managed: others would be suspended with them.
extension RunningProcess {
    var isServiceManager: Bool { ["systemd", "(sd-pam)", "init"].contains(name) }

    /// The login session whose leader the process is; nil if it leads none.
    var ledLoginSession: String? {
        loginSession.flatMap { LoginSessionFile.leader(of: $0) == identity.pid ? $0 : nil }
    }
}

/// The app id of a window, which its client has chosen: `app_id` of Wayland, the class in `WM_CLASS` of X11.
///
/// It can name any app of the daemon. It adopts no process, so that a false claim can bring a running app to the foreground or
/// keep it running, and do nothing else.
struct AppIDClaim {
    /// The degree to which an app fits. The least is the best.
    private struct Fit: Comparable {
        enum Kind: Comparable {
            case id, idInOtherCase, windowClass, windowClassInOtherCase
        }

        let kind: Kind
        /// The number of the instance; 1 for the app itself.
        let instance: Int

        static func < (left: Fit, right: Fit) -> Bool { (left.kind, left.instance) < (right.kind, right.instance) }
    }

    private let text: String
    /// Toolkits differ in the case: Qt and X11 have `Firefox`, the entry `firefox`.
    private let folded: String

    init(_ text: String) {
        // Some toolkits name the file of the entry.
        let suffix = ".desktop".utf8
        let isFile = text.utf8.count > suffix.count && text.utf8.suffix(suffix.count).elementsEqual(suffix)
        self.text = isFile ? String(decoding: text.utf8.dropLast(suffix.count), as: UTF8.self) : text
        folded = self.text.lowercased()
    }

    /// Returns the app that the claim means; nil if there is none.
    ///
    /// An id counts before a class of a desktop entry, the same case before another one. Of several instances of one app, the
    /// first counts.
    ///
    /// - Parameter apps: The running apps, in the order of their ids, each with the class of its desktop entry.
    func best(among apps: some Sequence<(id: AppID, windowClass: String?)>) -> AppID? {
        var best: (id: AppID, fit: Fit)?
        for app in apps {
            guard let fit = fit(of: app.id, app.windowClass) else { continue }
            if best.map({ fit < $0.fit }) ?? true { best = (app.id, fit) }
        }
        return best?.id
    }

    private func fit(of id: AppID, _ windowClass: String?) -> Fit? {
        let (base, instance) = Self.instance(id.name)
        if id.name == text { return Fit(kind: .id, instance: 1) }
        if base == text { return Fit(kind: .id, instance: instance) }
        if id.name.lowercased() == folded { return Fit(kind: .idInOtherCase, instance: 1) }
        if base.lowercased() == folded { return Fit(kind: .idInOtherCase, instance: instance) }
        guard let windowClass else { return nil }
        if windowClass == text { return Fit(kind: .windowClass, instance: instance) }
        return windowClass.lowercased() == folded ? Fit(kind: .windowClassInOtherCase, instance: instance) : nil
    }

    /// Splits the id of an instance, as `AppCatalog.freeID(for:)` makes it: `mail-2` is the second of `mail`.
    private static func instance(_ id: String) -> (base: String, number: Int) {
        let bytes = id.utf8
        guard let dash = bytes.lastIndex(of: UInt8(ascii: "-")), dash != bytes.startIndex else { return (id, 1) }
        let digits = bytes[bytes.index(after: dash)...]
        guard digits.count <= 9, digits.first.map({ $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: "+") }) ?? false,
            let number = Int(String(decoding: digits, as: UTF8.self)), number >= 2
        else { return (id, 1) }
        return (String(decoding: bytes[..<dash], as: UTF8.self), number)
    }
}
