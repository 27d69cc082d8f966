import CLinux
import Glibc
import Processes
import Systemd

/// The descriptors that the daemon leaves to the next program in its process.
///
/// execve(2) keeps the pid, the children and descriptors that are not closed on exec. A table of the descriptors is in a
/// memory file, whose number is in the environment.
struct Reexecution {
    enum Name {
        static let control = "control"
        static let ownControl = "own-control"
        static let lock = "lock"
        /// The connection of the client that waits for the re-execution.
        static let client = "client"
    }

    private static let variable = "LIFED_REEXECUTION"
    private static let limitWord = "descriptor-limit"

    private(set) var descriptors: [(name: String, number: Int32)] = []
    /// The soft RLIMIT_NOFILE before the daemon raised it.
    private(set) var descriptorLimit: UInt64?

    init(descriptorLimit: UInt64?) { self.descriptorLimit = descriptorLimit }

    mutating func keep(_ number: Int32, as name: String) { descriptors.append((name, number)) }

    /// The signal that asks for a re-execution, as for systemd(1).
    static var signal: Int32 { __libc_current_sigrtmin() + 25 }
}

// MARK: - In the previous program

extension Reexecution {
    /// Executes a program with the arguments of this one.
    ///
    /// Called on the thread that made the children: PR_SET_PDEATHSIG fires when that ends, and execve(2) keeps it.
    ///
    /// - Returns: The error. The descriptors are as before.
    func execute(_ program: String) -> Errno {
        let table = unsafe linux_memory_file("lifed-reexecution")
        guard table >= 0 else { return Errno(rawValue: -table) }
        defer { close(table) }
        guard FileReplacement.write(Array(text.utf8), to: table), lseek(table, 0, SEEK_SET) == 0 else {
            return Errno(rawValue: errno)
        }
        for kept in descriptors { Self.setClosedOnExec(false, kept.number) }
        unsafe setenv(Self.variable, String(table), 1)
        unsafe execv(program, CommandLine.unsafeArgv)
        let error = Errno(rawValue: errno)
        unsafe unsetenv(Self.variable)
        for kept in descriptors { Self.setClosedOnExec(true, kept.number) }
        return error
    }

    private var text: String {
        let limit = descriptorLimit.map { "\(Self.limitWord) \($0)\n" } ?? ""
        return descriptors.reduce(into: limit) { $0 += "\($1.name) \($1.number)\n" }
    }

    private static func setClosedOnExec(_ isClosed: Bool, _ number: Int32) {
        let flags = fcntl(number, F_GETFD)
        if flags >= 0 { _ = fcntl(number, F_SETFD, isClosed ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC) }
    }
}

// MARK: - In the next program

extension Reexecution {
    /// Far more than the descriptors of 100,000 apps need, in bytes.
    private static let sizeLimit = 16 << 20

    /// Receives the descriptors of the previous program, and removes its environment variable; nil if there was none.
    static func receive() -> Reexecution? {
        guard let value = unsafe getenv(variable) else { return nil }
        let number = Int32(unsafe String(cString: value))
        unsafe unsetenv(variable)
        guard let number, number > STDERR_FILENO, fcntl(number, F_GETFD) >= 0 else { return nil }
        let table = Descriptor(owning: number)
        guard let bytes = table.readAll(limit: sizeLimit) else { return nil }
        var reexecution = Reexecution(descriptorLimit: nil)
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2 else { continue }
            if words[0] == limitWord {
                reexecution.descriptorLimit = UInt64(words[1])
            } else if let number = Int32(words[1]), number > STDERR_FILENO, fcntl(number, F_GETFD) >= 0 {
                setClosedOnExec(true, number)
                reexecution.keep(number, as: String(words[0]))
            }
        }
        return reexecution
    }

    /// The descriptors that systemd would pass to a restarted daemon: the control socket, and those of launches.
    var passed: [PassedDescriptor] {
        descriptors.filter { $0.name == Name.control || $0.name == Name.ownControl || DescriptorStore.isName($0.name) }
            .map { PassedDescriptor(name: $0.name, descriptor: $0.number) }
    }

    func number(of name: String) -> Int32? { descriptors.first { $0.name == name }?.number }

    /// Answers the client that waits for the re-execution, and ends its connection.
    func answerClient() {
        guard let number = number(of: Name.client) else { return }
        let connection = Descriptor(owning: number)
        let reply = Array("{\"parameters\":{}}\0".utf8)
        _ = unsafe send(connection.rawValue, reply, reply.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
}
