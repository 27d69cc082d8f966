internal import Glibc
internal import LifecycleClient

/// The error of a state that cannot be saved or restored.
public enum RestorationError: Error, Hashable, Sendable {
    /// The state is larger than ``LifecycleApplication/restorationStateLimit``.
    case tooLarge
    /// No state was saved; or there is no `LIFECYCLE_STATE_DIR`, because lifed did not launch the app; or the process has only
    /// inherited the variable from the app.
    case notThere
    /// The saved state is damaged.
    case damaged
    /// The error of a system call, such as ENOSPC or EACCES.
    case system(code: CInt)

    init(_ error: SystemError) {
        switch error.code {
        case EFBIG: self = .tooLarge
        case ENOENT: self = .notThere
        case EBADMSG: self = .damaged
        default: self = .system(code: error.code)
        }
    }
}

extension RestorationError: CustomStringConvertible {
    /// The error as a sentence.
    public var description: String {
        switch self {
        case .tooLarge: "cannot save the state: it is larger than 1 MiB; save less"
        case .notThere:
            "cannot access the saved state: no state was saved, or LIFECYCLE_STATE_DIR is not set; start without it"
        case .damaged: "cannot restore the state: the file is damaged; start without it"
        case .system(let code):
            "cannot access the saved state: error \(code); check LIFECYCLE_STATE_DIR and the space on its disk"
        }
    }
}

extension LifecycleApplication {
    /// The limit of `saveRestorationState(_:)`, in bytes.
    public nonisolated static var restorationStateLimit: Int { AppSavedState.limit }

    /// Saves the state that the app restores after the system has ended it, best in `applicationDidEnterBackground(_:)`.
    ///
    /// Replaces the file in `LIFECYCLE_STATE_DIR` as a whole, even if the machine fails, and waits for the disk.
    ///
    /// - Parameter state: At most ``restorationStateLimit`` bytes, from one process of the app at a time.
    /// - Throws: ``RestorationError``.
    public func saveRestorationState(_ state: [UInt8]) throws(RestorationError) {
        do throws(SystemError) { try AppSavedState.save(state) } catch { throw RestorationError(error) }
    }

    /// Loads the saved state, for a launch with ``LaunchOptions/shouldRestore``. Waits for the disk.
    ///
    /// - Returns: The bytes of the last ``saveRestorationState(_:)``.
    /// - Throws: ``RestorationError``.
    public func restorationState() throws(RestorationError) -> [UInt8] {
        do throws(SystemError) { return try AppSavedState.load() } catch { throw RestorationError(error) }
    }
}
