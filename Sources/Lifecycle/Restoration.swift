internal import Glibc
internal import LifecycleClient

/// The error that a state cannot be saved or restored.
public enum RestorationError: Error, Hashable, Sendable {
    /// It is more than `Application.restorationStateLimit` bytes.
    case tooLarge
    /// Nothing was kept; or there is no `LIFECYCLE_STATE_DIR`, because the app was not launched by lifed.
    case notThere
    /// The saved state is damaged.
    case damaged
    /// The system says no: ENOSPC, EACCES and the like.
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
        case .tooLarge: "The state to restore is larger than 1 MiB."
        case .notThere: "There is no state to restore, or no LIFECYCLE_STATE_DIR to keep it in."
        case .damaged: "The state to restore is damaged."
        case .system(let code): "The state to restore cannot be kept or had: error \(code)."
        }
    }
}

extension Application {
    /// The limit of `saveRestorationState(_:)`, in bytes.
    public nonisolated static var restorationStateLimit: Int { SavedState.limit }

    /// Saves the state that the app restores after the system has ended it. Replaces the saved state as a whole, whatever
    /// happens, and waits for the disk.
    ///
    /// The file is in `LIFECYCLE_STATE_DIR`, for one process of the app at a time. The right time is
    /// `applicationDidEnterBackground(_:)`.
    ///
    /// - Parameter state: At most ``restorationStateLimit`` bytes.
    /// - Throws: ``RestorationError``.
    public func saveRestorationState(_ state: [UInt8]) throws(RestorationError) {
        do throws(SystemError) { try SavedState.save(state) } catch { throw RestorationError(error) }
    }

    /// Returns the saved state, for a launch whose options say `shouldRestore`.
    ///
    /// - Throws: ``RestorationError``.
    public func restorationState() throws(RestorationError) -> [UInt8] {
        do throws(SystemError) { return try SavedState.load() } catch { throw RestorationError(error) }
    }
}
