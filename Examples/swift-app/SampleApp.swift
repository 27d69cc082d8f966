import Lifecycle

/// An app in Swift: it gives its main thread to the life cycle, and prints a line for everything that it is told.
@main
struct SampleApp {
    static func main() {
        Application.shared.run(delegate: SampleDelegate())
    }
}
