import CLinux

/// The limit of open descriptors of this process, RLIMIT_NOFILE of getrlimit(2).
public enum OpenFileLimit {
    /// What the kernel and systemd give a program that asks for nothing. A service that has to be passed many
    /// descriptors is started with more, which is no business of the programs that it starts.
    public static let usual: UInt64 = 1024

    /// Raises the soft limit to the hard one and returns the former soft limit, which children should get back:
    /// programs that use select(2) break with numbers above 1023.
    public static func raiseToHardLimit() throws(Errno) -> UInt64 {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Errno(rawValue: errno)
        }
        let former = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw Errno(rawValue: errno)
        }
        return UInt64(former)
    }
}
