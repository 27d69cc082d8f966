import Glibc

/// Returns the names in a directory that do not begin with a dot; none without the directory, nil if it cannot be listed.
public func fileNames(in directory: String) -> Set<String>? {
    guard let stream = unsafe opendir(directory) else { return errno == ENOENT ? [] : nil }
    defer { unsafe closedir(stream) }
    var names: Set<String> = []
    while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
        if name.first != UInt8(ascii: ".") { names.insert(String(decoding: name, as: UTF8.self)) }
    }
    return names
}
