import Lifecycle

/// An app in Swift: the life cycle has its main thread, and each callback prints a line.
@main
struct SampleApp {
    static func main() throws {
        try LifecycleApplication.shared.run(delegate: SampleDelegate())
    }
}
