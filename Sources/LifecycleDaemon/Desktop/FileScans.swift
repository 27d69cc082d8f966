import LifecycleCore
import Processes
import Systemd

/// Reads the open files of suspended apps, a few in each round of the loop, so that other events are handled in between.
final class FileScans {
    /// The open files of an app that matter to others.
    struct Found {
        private(set) var sockets: [OpenFile] = []
        /// The files that its processes hold locks on, each with a descriptor of it.
        private(set) var locks: [LockedFile: OpenFile] = [:]

        mutating func add(_ file: OpenFile) {
            if file.socket != nil { return sockets.append(file) }
            guard locks.count < FileLocks.fileLimit else { return }
            for lock in file.locks where locks[lock] == nil { locks[lock] = file }
        }
    }

    private struct Scan {
        let app: AppIndex
        var files: OpenFileScan
        var found = Found()
    }

    private let finished: (AppIndex, Found) -> Void
    private let begun: BatchQueue
    private let round: DeferredSource
    /// The scans in their order; the first one has begun.
    private var scans: [Scan] = []

    /// As many files as take one to three milliseconds.
    static let filesOfRound = 128

    /// - Parameters:
    ///   - processes: Returns the processes of an app.
    ///   - finished: Called with each app that was not removed before, and its files.
    init(
        loop: EventLoop, processes: @escaping (AppIndex) -> [ProcessID], finished: @escaping (AppIndex, Found) -> Void
    ) throws(SystemdError) {
        self.finished = finished
        let owner = Owner<FileScans>()
        begun = try BatchQueue(loop: loop, isHeld: true, start: .pause) { app in
            guard let owner = owner.object else { return }
            owner.scans.append(Scan(app: app, files: OpenFileScan(of: processes(app))))
            // Most apps have few files, and need no round of their own.
            if owner.scans.count == 1 { owner.readSome() }
        }
        round = try loop.deferred { owner.object?.readSome() }
        owner.object = self
    }

    /// Lets the scans begin.
    func begin() { begun.begin() }

    func append(_ app: AppIndex) { begun.append(app) }

    func remove(_ app: AppIndex) {
        begun.remove(app)
        scans.removeAll { $0.app == app }
    }

    private func readSome() {
        var left = Self.filesOfRound
        var count = 0
        var done: [Scan] = []
        while left > 0, count < scans.count {
            var found = scans[count].found
            left -= scans[count].files.step(count: left) { found.add($0) }
            scans[count].found = found
            guard scans[count].files.isDone else { break }
            done.append(scans[count])
            count += 1
        }
        scans.removeFirst(count)
        if !scans.isEmpty { round.schedule() }
        for scan in done { finished(scan.app, scan.found) }
    }
}
