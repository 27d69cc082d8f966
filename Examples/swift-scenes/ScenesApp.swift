import Lifecycle

/// An app with three scenes: the life cycle has its main thread, and each callback prints a line.
@main
struct ScenesApp {
    static func main() throws {
        try LifecycleApplication.shared.run(delegate: ScenesDelegate())
    }
}
