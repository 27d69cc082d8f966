/// Tells one boot of the machine from every other one.
public enum BootID {
    /// What the kernel made up when it started: see random(4). Empty where /proc is not mounted.
    public static var current: String {
        let text = ProcFile.read("/proc/sys/kernel/random/boot_id", limit: 64) ?? []
        return String(decoding: text.prefix { $0 > UInt8(ascii: " ") }, as: UTF8.self)
    }
}
