internal import Glibc
internal import LifecycleClient

/// Why what an app wants to have back cannot be kept, or is not there.
public enum RestorationError: Error, Hashable, Sendable {
    /// It is more than `Application.restorationStateLimit` bytes.
    case tooLarge
    /// Nothing was kept; or there is no `LIFECYCLE_STATE_DIR`, because the app was not launched by lifed.
    case notThere
    /// What was kept is damaged.
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
    /// A sentence that says why.
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
    /// The most bytes that `saveRestorationState(_:)` keeps.
    public nonisolated static var restorationStateLimit: Int { SavedState.limit }

    /// Keeps what the app wants to have back when the system ends it, in place of what was kept before: whatever happens,
    /// the one or the other is there afterwards, whole.
    ///
    /// In `LIFECYCLE_STATE_DIR`, for one process of the app at a time. The right time is
    /// `applicationDidEnterBackground(_:)`. Waits for the disk. Throws a `RestorationError`.
    public func saveRestorationState(_ state: [UInt8]) throws(RestorationError) {
        do throws(SystemError) { try SavedState.save(state) } catch { throw RestorationError(error) }
    }

    /// What was kept the last time; to be asked for when the options of the launch say `shouldRestore`.
    ///
    /// Throws a `RestorationError`.
    public func restorationState() throws(RestorationError) -> [UInt8] {
        do throws(SystemError) { return try SavedState.load() } catch { throw RestorationError(error) }
    }
}
