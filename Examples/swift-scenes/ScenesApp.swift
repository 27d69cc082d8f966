import Lifecycle

/// An app with three scenes: it gives its main thread to the life cycle, and prints a line for everything that it is told.
@main
struct ScenesApp {
    static func main() {
        Application.shared.run(delegate: ScenesDelegate())
    }
}
