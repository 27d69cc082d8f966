import CLinux
import Glibc

/// The files that each look at an app's group reads, held open: opening one takes longer than reading it.
///
/// The kernel keeps a page for each, so only the groups that were looked at last have them; see ``RecentGroupFiles``.
final class GroupFiles {
    private struct Open: ~Copyable {
        let directory: Descriptor
        let processes: Descriptor
    }

    /// The group above, of which all apps' groups share the texts.
    private let parent: Cgroup
    let name: String
    var group: Cgroup { parent.child(name) }

    private var open: Open?
    /// The process whose `stat` and list of children are open, and the files.
    private var main: ProcessID?
    private var status: Descriptor?
    private var children: Descriptor?
    /// The number of the latest look at the group; nil while the files are closed.
    fileprivate var latestLook: UInt64?

    init(of name: String, in parent: Cgroup) {
        self.parent = parent
        self.name = name
    }

    /// A Boolean value that indicates whether all files are open.
    fileprivate private(set) var isComplete = false

    /// Opens the files, as far as there is room for more descriptors.
    ///
    /// - Parameter main: The main process.
    fileprivate func open(main: ProcessID?) {
        if open == nil, let directory = try? Descriptor.open(group.directory, O_RDONLY | O_DIRECTORY),
            let processes = try? Self.open("cgroup.procs", in: directory.rawValue, O_RDONLY)
        {
            open = Open(directory: directory, processes: processes)
        }
        if status == nil, let main {
            self.main = main
            status = try? Descriptor.open(ProcPath(main, "stat"), O_RDONLY)
            children = try? Descriptor.open(ProcPath(main, thread: main, "children"), O_RDONLY)
        }
        isComplete = open != nil && status != nil
    }

    func close() {
        open = nil
        status = nil
        children = nil
        isComplete = false
        latestLook = nil
    }

    /// Writes an attribute of the group.
    func write(_ value: StaticString, to attribute: StaticString) throws(Errno) {
        let file = try open(attribute, O_WRONLY)
        let size = value.utf8CodeUnitCount
        guard unsafe Glibc.write(file.rawValue, value.utf8Start, size) == size else { throw Errno.latest }
    }

    /// The present state of the group; nil if the group is gone.
    var events: CgroupEvents? {
        do throws(Errno) {
            let file = try open("cgroup.events", O_RDONLY)
            return ProcFile.readAgain(file.rawValue) { CgroupEvents(parsing: $0) }
        } catch {
            ProcFile.recordFailure(error.rawValue)
            return nil
        }
    }

    /// Opens an attribute by the directory, if that is open: the path of a group is long.
    private func open(_ attribute: StaticString, _ flags: Int32) throws(Errno) -> Descriptor {
        guard let directory = open?.directory.rawValue else {
            return try Descriptor.open(group.file(attribute.description), flags)
        }
        return try Self.open(attribute, in: directory, flags)
    }

    private static func open(
        _ attribute: StaticString, in directory: Int32, _ flags: Int32
    ) throws(Errno) -> Descriptor {
        let number = unsafe attribute.utf8Start.withMemoryRebound(to: CChar.self, capacity: attribute.utf8CodeUnitCount)
        {
            unsafe linux_open_at(directory, $0, flags | O_CLOEXEC)
        }
        guard number >= 0 else { throw Errno(rawValue: -number) }
        return Descriptor(owning: number)
    }

    /// Returns the processes in the group and below it.
    func processIDs() -> [ProcessID] {
        readProcesses { Cgroup.processIDs(in: $0) } ?? group.processIDs()
    }

    /// Returns whether this process is the only one in the group and below it. Mostly that is so, and takes no list.
    func haveOnly(_ process: ProcessID) -> Bool {
        readProcesses { Cgroup.isOnly(process, in: $0) } ?? group.processIDs().isOnly(process)
    }

    /// Reads the list of processes; nil if the group has groups below it, or the list is not open.
    private func readProcesses<Result>(_ parse: (Span<UInt8>) -> Result) -> Result? {
        // A directory of the kernel's has two links, and one more for each directory in it.
        var attributes = stat()
        guard let processes = open?.processes.rawValue, let directory = open?.directory.rawValue,
            unsafe fstat(directory, &attributes) == 0, attributes.st_nlink == 2
        else { return nil }
        return ProcFile.readAgain(processes, parse)
    }

    /// Returns the status of a process; nil if it is gone. An open file stands for one process, whatever has its number later.
    func processStatus(of pid: ProcessID) -> ProcessStatus? {
        guard pid == main, let status = status?.rawValue else { return ProcessStatus(of: pid) }
        // The group may have another process with the number of a main process that was reaped.
        return ProcFile.readAgain(status) { ProcessStatus(parsing: $0) } ?? ProcessStatus(of: pid)
    }

    /// Returns the children of the main process, which has not been reaped; nil for another process, or if the list is not open.
    func children(of process: ProcessStatus) -> [ProcessID]? {
        guard process.pid == main, process.threadCount == 1, let children = children?.rawValue else { return nil }
        return ProcFile.readAgain(children) { Children.numbers(in: $0) }
    }
}

/// Holds open the files of the groups that were looked at last.
final class RecentGroupFiles {
    private var opened: [GroupFiles] = []
    private var lookCount: UInt64 = 0
    private static let limit = 16

    /// Opens the files of a group, and closes those of the group that was looked at least recently.
    func touch(_ files: GroupFiles, main: ProcessID?) {
        lookCount += 1
        let isOpen = files.latestLook != nil
        files.latestLook = lookCount
        if !files.isComplete { files.open(main: main) }
        guard !isOpen else { return }
        opened.append(files)
        guard opened.count > Self.limit, let oldest = opened.min(by: { $0.latestLook ?? 0 < $1.latestLook ?? 0 }) else {
            return
        }
        remove(oldest)
        oldest.close()
    }

    func remove(_ files: GroupFiles) {
        if let index = opened.firstIndex(where: { $0 === files }) { opened.remove(at: index) }
    }
}
