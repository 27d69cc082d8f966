import LifecycleCore
import Processes

/// What the core is told of starts that did not come to anything.
extension StartFailure {
    nonisolated init(_ error: SpawnError) {
        self = if case .resources = error { .shortage(error.description) } else { .command(error.description) }
    }

    init(_ error: LaunchError) {
        self = .command(error.description)
    }
}
