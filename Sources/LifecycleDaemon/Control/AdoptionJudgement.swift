import ControlAPI
import Glibc
import LifecycleCore
import Processes

/// Whether a process that somebody else has started may be put under management, and if not, why.
///
/// What is refused is what a person would regret to see stopped: what the session, the daemon or they themselves live in.
struct AdoptionJudgement {
    let process: RunningProcess
    let peer: PeerCredentials
    let processes: AppProcesses

    private var pid: ProcessID { process.identity.pid }

    /// The first reason against it.
    var objection: ControlError? {
        permissionObjection ?? objectionOfKind ?? objectionOfPlace
    }

    private func refuse(_ reason: String, _ remedy: String = "") -> ControlError {
        ControlError(.refused, id: nil, reason: "process \(pid) \(reason)", remedy: remedy)
    }

    // MARK: Whose it is

    /// Root may have anybody's, everybody else their own: also the user that it could go back to has to be theirs.
    private var permissionObjection: ControlError? {
        let user = geteuid()
        if peer.process == PeerCredentials.outsideProcess {
            return refuse("cannot be named from another process namespace", "Ask from where the daemon runs.")
        }
        if peer.user != 0, process.users.contains(where: { $0 != peer.user }) {
            return refuse("is not yours, but user \(other(than: peer.user))'s", "Only root may adopt it.")
        }
        if user != 0, process.users.contains(where: { $0 != user }) {
            return refuse(
                "is user \(other(than: user))'s, which this daemon may not stop", "The system's daemon may: --system.")
        }
        return nil
    }

    private func other(than user: UInt32) -> UInt32 { process.users.first { $0 != user } ?? user }

    // MARK: What it is

    private var objectionOfKind: ControlError? {
        if pid == 1 { return refuse("is the one that everything else comes from") }
        if process.isKernels { return refuse("is a thread of the kernel's") }
        if pid == getpid() { return refuse("is lifed itself") }
        if process.name == ProcessStatus(of: getpid())?.name { return refuse("is a lifed, too") }
        if ["systemd", "(sd-pam)", "init"].contains(process.name) {
            return refuse("is a service manager, and all its services would sleep with it")
        }
        if process.isInGroupOfApp { return refuse("is one of an app of another lifed") }
        if let session = process.loginSession, LoginSessionFile.leader(of: session) == pid {
            return refuse("leads the login session \(session), and all that is in it would sleep with it")
        }
        return nil
    }

    // MARK: What is below it and above it

    private var objectionOfPlace: ControlError? {
        guard let above = RunningProcess.ancestors(of: pid), let aboveMe = RunningProcess.ancestors(of: getpid()) else {
            return refuse("cannot be looked at", "Try again.")
        }
        if aboveMe.contains(pid) { return refuse("has started lifed, which would stop itself") }
        if pid == peer.process || RunningProcess.ancestors(of: peer.process)?.contains(pid) ?? true {
            return refuse(
                "is what you ask from, and would be stopped while you wait",
                "Ask from somewhere else, such as another terminal; 'lifectl run' starts a program as an app.")
        }
        let own = ProcessStatus(of: getpid())?.name
        if above.contains(where: { ProcessStatus(of: $0)?.name == own }) {
            return refuse("is one of an app of another lifed")
        }
        return processes.app(below: pid).map { id in
            refuse("has the app \(id) below it", "Adopt what is below it, or wait until that has ended.")
        }
    }
}

/// What logind keeps of a session, see sd-login(3): of 252, the library does not say who leads one.
enum LoginSessionFile {
    /// The first process of a session; nil where that is not known.
    static func leader(of session: String) -> ProcessID? {
        guard session.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 != 0 }),
            let text = try? SmallFile.read("/run/systemd/sessions/\(session)")
        else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("LEADER=") }
        return line.flatMap { ProcessID($0.dropFirst("LEADER=".count)) }
    }
}
