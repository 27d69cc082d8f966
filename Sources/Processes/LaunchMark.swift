/// Finds the launch a process belongs to from the environment it was started with.
enum LaunchMark {
    /// The kernel allows environments of megabytes; spawn puts the mark first, so the beginning is enough.
    private static let searchedBytes = 256 * 1024

    /// The token in the initial environment of a process, or nil when there is none or it may not be read.
    ///
    /// Kernels since 4.18 answer this read from ordinary memory only, so a process cannot make the reader wait.
    static func token(of pid: ProcessID) -> LaunchToken? {
        environment(of: pid).flatMap(token(inEnvironment:))
    }

    /// The same beginning of the environment, or nil when it may not be read.
    static func environment(of pid: ProcessID) -> [UInt8]? {
        ProcFile.read("/proc/\(pid)/environ", limit: searchedBytes)
    }

    /// The token in a list of zero-terminated `NAME=value` strings.
    static func token(inEnvironment environment: [UInt8]) -> LaunchToken? {
        let prefix = Array((LaunchToken.environmentName + "=").utf8)
        for variable in environment.split(separator: 0) where variable.starts(with: prefix) {
            return LaunchToken(rawValue: String(decoding: variable.dropFirst(prefix.count), as: UTF8.self))
        }
        return nil
    }
}
