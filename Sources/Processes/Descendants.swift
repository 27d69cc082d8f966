import CLinux

/// A walk down from processes to everything below them.
struct Descendants {
    private let children: Children
    private var visited: Set<ProcessID>
    private(set) var found: [ProcessStatus] = []

    init(children: Children) {
        self.children = children
        // Whatever a file of the kernel says, these are never part of an app.
        visited = [0, 1, getpid()]
    }

    /// Adds a process and everything below it. Zombies are left out, their children are not theirs any more.
    mutating func add(_ root: ProcessStatus) {
        guard visited.insert(root.pid).inserted else { return }
        var pending = [root]
        while let status = pending.popLast() {
            if status.isZombie { continue }
            found.append(status)
            for child in children.of(status.pid, threadCount: status.threadCount) where !visited.contains(child) {
                // One that has another parent by now ended and its number was reused, or was adopted:
                // then it is found where it is now.
                guard let next = ProcessStatus(of: child), next.parent == status.pid else { continue }
                visited.insert(child)
                pending.append(next)
            }
        }
    }
}
