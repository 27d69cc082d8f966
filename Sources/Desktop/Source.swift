import Glibc
import Systemd

/// A program that knows which windows have the focus, or which streams play: a compositor, an X server, a sound server.
///
/// The descriptors of a source wake the loop. The agent reads every source after each event, and no source calls the agent.
@MainActor protocol Source: AnyObject {
    /// The program, for messages.
    var name: String { get }

    /// Handles what has come. Does not wait.
    ///
    /// - Returns: The newest observation; nil if there is no new one.
    func read() throws(SourceLost) -> Observation?
}

/// The end of a source, or the reason why it cannot be followed.
struct SourceLost: Error, Equatable {
    let reason: String
    /// The remedy, if it is another one than to start the program.
    var remedy: String?

    init(reason: String, remedy: String? = nil) { (self.reason, self.remedy) = (reason, remedy) }

    init(_ error: SystemdError) { self.init(reason: error.description) }
}

extension EventLoop {
    /// Has a descriptor wake the loop when it is readable. The result is dropped before the descriptor is closed.
    func wake(by descriptor: CInt) throws(SourceLost) -> IOSource {
        do throws(SystemdError) {
            return try watch(descriptor: descriptor, events: .readable) { _ in }
        } catch {
            throw SourceLost(error)
        }
    }
}

/// Returns the text of an errno.
func errnoText(_ number: CInt) -> String { unsafe String(cString: strerror(number)) }

/// Returns the value of a variable of the environment; nil if it is empty or not set.
func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
}
