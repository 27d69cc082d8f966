import Glibc
import Processes

/// Descriptors that are kept for a moment in which there has to be one, so that nobody who uses up the rest keeps the
/// daemon from finding out who they are.
final class DescriptorReserve {
    private var held: [Int32] = []
    private let count: Int

    init(count: Int) {
        self.count = count
        fill()
    }

    isolated deinit { release() }

    /// Gives the descriptors away for as long as the work lasts.
    func lend<Result>(to work: () -> Result) -> Result {
        release()
        defer { fill() }
        return work()
    }

    private func release() {
        for descriptor in held { close(descriptor) }
        held = []
    }

    private func fill() {
        while held.count < count {
            let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            held.append(descriptor)
        }
    }
}
